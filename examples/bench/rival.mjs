// The rival of goals S3, S6 and S12, as one would write it in Node 20 without
// this SDK: node:http, an object a row, JSON.stringify a batch of 5,000.
//
//   node rival.mjs ROWS
//
// It prints the address it listens on and ends when its standard input does.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

// The reference table, as in table.go.

const vocabulary = JSON.parse(readFileSync(new URL('vocabulary.json', import.meta.url), 'utf8'));
const seed = 20240101;
const firstDay = 1704067200;

function mix(x) {
  x ^= x >>> 16;
  x = Math.imul(x, 0x21f0aaad);
  x ^= x >>> 15;
  x = Math.imul(x, 0x735a2d97);
  return (x ^ (x >>> 15)) >>> 0;
}

const hex = (n, width) => n.toString(16).padStart(width, '0');
const names = [], uuids = [], emails = [], amounts = [];
for (const given of vocabulary.given) {
  for (const family of vocabulary.family) names.push(given + ' ' + family);
}
let n = seed;
const next = () => mix(++n);
for (let i = 0; i < 1024; i++) {
  const a = next(), b = next(), c = next(), d = next();
  uuids.push(`${hex(a, 8)}-${hex(b >>> 16, 4)}-4${hex(b & 0xfff, 3)}-8${hex(c >>> 20, 3)}-${hex(c & 0xffff, 4)}${hex(d, 8)}`);
  const family = vocabulary.family[a % vocabulary.family.length].slice(0, 4).toLowerCase();
  emails.push(`${family}.${b % 100000}@mail.example.com`);
}
for (let i = 0; i < 4096; i++) {
  const whole = next() % 100000;
  amounts.push(`${whole}.${String(next() % 100).padStart(2, '0')}`);
}

function row(i) {
  const base = mix(seed ^ i);
  const a = mix(base + 1), b = mix(base + 2), c = mix(base + 3);
  return {
    id: i + 1,
    uuid: uuids[a & 1023],
    name: names[(a >>> 10) & 63],
    email: emails[(a >>> 16) & 1023],
    status: vocabulary.status[(b >>> 20) % 5],
    amount: amounts[b & 4095],
    qty: (b >>> 12) % 200,
    price: (c % 10000000) / 100,
    active: a >>> 30 !== 0,
    created_at: new Date((firstDay + (base % (500 * 86400))) * 1000).toISOString().slice(0, 19) + 'Z',
    note: vocabulary.note[(a >>> 26) & 7],
    region: vocabulary.region[(b >>> 24) % 5],
  };
}

const batchRows = 5000;

// stream sends count rows, and waits while the reader is slow.
async function stream(res, count, at) {
  let resume;
  res.on('drain', () => resume?.());
  res.on('close', () => resume?.());
  for (let from = 0; from < count && !res.destroyed; from += batchRows) {
    const rows = [];
    for (let i = from; i < Math.min(from + batchRows, count); i++) rows.push(at(i));
    if (!res.write(JSON.stringify({ rows }) + '\n')) await new Promise((go) => { resume = go; });
  }
}

const total = Number(process.argv[2]);

const server = createServer(async (req, res) => {
  try {
    const parts = [];
    for await (const part of req) parts.push(part);
    const query = JSON.parse(Buffer.concat(parts).toString('utf8'));
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    res.write('{"served":{"filters":true,"sort":true,"window":true}}\n');
    const limit = query.limit ?? total;
    if (query.sort.length > 0) {
      const { field, dir } = query.sort[0];
      const sign = dir === 'desc' ? -1 : 1;
      const all = [];
      for (let i = 0; i < total; i++) all.push(row(i));
      all.sort((x, y) => sign * (x[field] - y[field]) || x.id - y.id);
      const first = all.slice(0, limit);
      await stream(res, first.length, (i) => first[i]);
    } else {
      await stream(res, Math.min(limit, total), row);
    }
    res.end('{"end":1}\n');
  } catch (err) {
    console.error(err);
    res.destroy();
  }
});

server.listen(0, '127.0.0.1', () => console.log(`127.0.0.1:${server.address().port}`));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
