// The page of the program connect. The program renders what changes; this script sends what
// is typed, puts what arrives into its place, and builds the questions of the panel Ask.
// It stores nothing: neither in the address, nor in the browser.
"use strict";

const byId = (id) => document.getElementById(id);

// element returns a new element with properties and children; text is never read as HTML.
function element(tag, properties, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name in e) e[name] = value; else e.setAttribute(name, value);
  }
  e.append(...children);
  return e;
}

// post sends a value and returns the answer's JSON.
async function post(path, value) {
  const answer = await fetch(path, {method: "POST", body: JSON.stringify(value ?? {})});
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

// Focus. Who has no mouse must find the focus again, whatever the program changes.

// nameOf returns what tells a control from the others of its place: its id, or its words and those
// of the part that it is in.
const nameOf = (e) => e.id || [e.closest("details")?.querySelector("summary").textContent, e.tagName, e.ariaLabel || e.textContent].join("\n");

const lost = new WeakMap(); // of a place that has the focus itself: the name of the control that had it

// anew replaces the content of a place. The focus goes to the same control. Where that is gone, it
// waits at the place until the control is there again.
function anew(place, html) {
  const active = document.activeElement;
  const name = active === place ? lost.get(place) : place.contains(active) ? nameOf(active) : undefined;
  place.innerHTML = html;
  if (name === undefined) return;
  const same = [...place.querySelectorAll("a, button, input, select, textarea, summary, [tabindex]")].find((e) => nameOf(e) === name);
  if (!same) lost.set(place, name);
  focusOn(same || place.querySelector("[data-focus]") || place);
}

// focusOn gives the focus to anything, also to what the Tab key leaves out.
function focusOn(e) {
  if (!e.matches("a, button, input, select, textarea, summary, [tabindex]")) e.tabIndex = -1;
  e.focus();
}

// allow lets a button be pressed, unless there is a reason why not. The button stays within reach of
// the Tab key, and is described by the reason.
function allow(button, why) {
  if (why) button.setAttribute("aria-disabled", "true"); else button.removeAttribute("aria-disabled");
}

// refused reports whether a button cannot be pressed. If it was, the focus goes to the reason.
function refused(button) {
  if (!button.ariaDisabled) return false;
  if (document.activeElement === button) focusOn(byId(button.getAttribute("aria-describedby")));
  return true;
}

// Panels

const panels = ["connection", "tables", "ask"];

function show(panel) {
  for (const name of panels) {
    byId("panel-" + name).hidden = name !== panel;
    const button = document.querySelector(`[data-panel=${name}]`);
    if (name === panel) button.setAttribute("aria-current", "page"); else button.removeAttribute("aria-current");
  }
}

// The connect form. Each change of an input is sent, one after the other, and the answer says
// which buttons can be pressed.

let queue = Promise.resolve();
let fieldsShown = "", wiped = -1, connected = false;
const pending = new Map(); // what was typed and is not sent yet, by input

function enqueue(work) {
  queue = queue.then(work).catch((e) => say("bad", e.message || String(e)));
  return queue;
}

function flush() {
  const edits = [...pending.values()];
  pending.clear();
  for (const edit of edits) enqueue(async () => render(await post("form", edit)));
}

let timer = 0;
function edited(input, edit) {
  pending.set(input, edit);
  clearTimeout(timer);
  timer = setTimeout(flush, 120);
}

function say(kind, text) {
  const message = byId("message");
  message.className = "note " + kind;
  message.textContent = text;
  message.hidden = !text;
}

// reset shows a form that was just opened.
function reset(view) {
  pending.clear();
  byId("name").value = view.name;
  byId("url").value = view.url;
  byId("token").value = "";
  byId("local").checked = view.local;
  byId("connect-form").hidden = false;
}

// render shows the state of the form. The inputs keep what is typed into them, since the program
// sends no secret back, until the program has forgotten it.
function render(view) {
  if (view.wiped !== wiped) {
    wiped = view.wiped;
    byId("fields").replaceChildren();
    fieldsShown = "";
  }
  const read = view.slug !== "";
  if (read && view.fields !== fieldsShown) {
    anew(byId("fields"), view.fields);
    fieldsShown = view.fields;
  }
  if (!read && byId("credentials").contains(document.activeElement)) byId("read").focus();
  byId("credentials").hidden = !read;
  byId("slug").textContent = read ? "Connector " + view.slug : "";
  byId("token").placeholder = view.hasToken ? "held by the program; type to replace it" : "";
  for (const input of byId("fields").querySelectorAll("[data-key]")) {
    input.dataset.placeholder ??= input.placeholder;
    const held = ((input.dataset.account === "second" ? view.heldSecond : view.held) || []).includes(input.dataset.key);
    input.placeholder = held ? "held by the program; type to replace it" : input.dataset.placeholder;
  }
  allow(byId("read"), view.whyNotRead);
  byId("read-why").textContent = view.whyNotRead;
  for (const id of ["test", "connect"]) allow(byId(id), view.whyNotTest);
  byId("test-why").textContent = view.whyNotTest;
  byId("warning").textContent = view.warning;
  byId("warning").hidden = !view.warning;
  say(view.problem ? "bad" : "good", view.problem || view.done);

  connected = view.connected;
  byId("reconnect").hidden = !connected;
  byId("nav-why").hidden = connected;
  byId("title").textContent = connected ? view.sourceName : "External connector";
  byId("where").textContent = connected ? view.url : "";
  document.title = connected ? view.sourceName + " · connect" : "connect";
  for (const name of ["tables", "ask"]) allow(document.querySelector(`[data-panel=${name}]`), !connected);
}

// press sends what is typed, then does what a button of the form does.
async function press(button, path, then) {
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  flush();
  say("", "");
  await enqueue(async () => {
    const view = await post(path);
    render(view);
    byId("url").value = view.url; // which Read connector may have completed
    if (!view.problem && then) then(view);
  });
  button.removeAttribute("aria-busy");
}

byId("connect-form").addEventListener("input", (event) => {
  const input = event.target;
  if (input.dataset.key !== undefined) {
    edited(input, {field: input.dataset.account, key: input.dataset.key, value: input.value});
  } else if (input.id === "local") {
    edited(input, {field: "local", value: String(input.checked)});
  } else {
    edited(input, {field: input.id, value: input.value});
  }
});

const readConnector = () => press(byId("read"), "read", () => (byId("fields").querySelector("[data-key]") || byId("connect")).focus());
const connect = () => press(byId("connect"), "connect", () => {
  byId("connect-form").hidden = true;
  byId("reconnect").focus();
});

// attempt does what a button of the form does, once what is typed was sent, or says what is missing.
function attempt(event, button, action) {
  event.preventDefault();
  flush();
  enqueue(async () => {
    if (refused(button)) say("bad", byId(button.getAttribute("aria-describedby")).textContent); else action();
  });
}
byId("address").addEventListener("submit", (event) => attempt(event, byId("read"), readConnector));
byId("credentials").addEventListener("submit", (event) => attempt(event, byId("connect"), connect));
byId("test").addEventListener("click", (event) =>
  attempt(event, byId("test"), () => press(byId("test"), "test", () => byId("connect").focus())));
byId("reconnect").addEventListener("click", () => press(byId("reconnect"), "reconnect", (view) => {
  reset(view);
  show("connection");
  byId("read").focus();
}));

// What the program sends by itself

const events = new EventSource("events");
events.onmessage = (event) => {
  const {id, html} = JSON.parse(event.data);
  const place = byId(id);
  if (!place) return;
  anew(place, html);
  if (id === "panel-ask") startAsk();
};
events.onopen = () => { byId("lost").hidden = true; };
events.onerror = () => { byId("lost").hidden = false; };

// Buttons anywhere on the page

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button || button.getAttribute("aria-busy") === "true") return;
  if (button.dataset.panel && !refused(button)) show(button.dataset.panel);
  if (button.dataset.show) {
    show("connection");
    byId(button.dataset.show).scrollIntoView({block: "start"});
    focusOn(byId(button.dataset.show));
  }
  if (button.dataset.post) {
    button.setAttribute("aria-busy", "true");
    await post(button.dataset.post, JSON.parse(button.dataset.value ?? "{}")).catch((e) => { button.textContent = e.message; });
    button.removeAttribute("aria-busy");
  }
  if (button.dataset.field !== undefined) filterBy(button);
  if (button.id === "ask-save") save(button);
  if (button.dataset.copy !== undefined) {
    await navigator.clipboard.writeText(button.parentElement.querySelector("pre").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }
  if (button.dataset.measure !== undefined) {
    button.setAttribute("aria-busy", "true");
    await post("measure", JSON.parse(button.dataset.measure)).catch((e) => { button.textContent = e.message; });
  }
});

// The cells of a table of rows are one stop of the Tab key; the arrow keys go from cell to cell.
document.addEventListener("keydown", (event) => {
  const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
  if (!step || !event.target.matches(".pick")) return;
  event.preventDefault();
  let cell = event.target.closest("td"), next = null;
  while (cell && !next) {
    const column = cell.cellIndex;
    if (step[0]) cell = step[0] > 0 ? cell.nextElementSibling : cell.previousElementSibling;
    else cell = (step[1] > 0 ? cell.parentElement.nextElementSibling : cell.parentElement.previousElementSibling)?.cells[column];
    next = cell?.querySelector(".pick");
  }
  if (!next) return;
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});

// The tables whose name or columns have what is searched for

document.addEventListener("input", (event) => {
  if (event.target.id !== "table-search") return;
  const wanted = event.target.value.trim().toLowerCase();
  let found = 0;
  for (const table of document.querySelectorAll("#panel-tables > .table")) {
    const names = [table.querySelector("summary b"), ...table.querySelectorAll(".fields td:first-child")].map((e) => e.textContent);
    table.hidden = !names.some((name) => name.toLowerCase().includes(wanted));
    if (!table.hidden) found++;
  }
  byId("table-found").textContent = found === 1 ? "1 table" : `${found} tables`;
});

// Ask: the form builds a question, the program shows it as a request and asks it.

const operators = [["eq", "is"], ["neq", "is not"], ["gt", "is more than"], ["gte", "is at least"], ["lt", "is less than"],
  ["lte", "is at most"], ["in", "is one of"], ["nin", "is none of"], ["contains", "has the element"], ["includes", "has in it"],
  ["startswith", "begins with"], ["isnull", "is empty"], ["notnull", "is not empty"]];
const figures = [["count", "number of"], ["sum", "sum of"], ["avg", "average of"], ["min", "least"], ["max", "largest"], ["count_distinct", "different values of"]];
let tables = [];
let labels = {}; // how names are shown that are not shown as they are
const shown = (name) => Object.hasOwn(labels, name) ? labels[name] : name;
let running = null;
let answered = ""; // the question of the answer that is shown

const choose = (label, values, value) => {
  const select = element("select", {ariaLabel: label});
  for (const v of values) {
    const [key, text] = Array.isArray(v) ? v : [v, v];
    select.append(element("option", {value: key}, text));
  }
  if (value !== undefined) select.value = value;
  return select;
};
const currentTable = () => tables.find((t) => t.name === byId("ask-table").value);
const fieldNames = (table) => table.fields.map((f) => [f.name, shown(f.name) + " · " + f.kind]);

// removable gives a line a button that removes it, or the whole of which it is a part.
function removable(line, whole = line) {
  const remove = element("button", {type: "button", className: "quiet", ariaLabel: "Remove"}, "×");
  remove.addEventListener("click", () => {
    const home = whole.parentElement.closest(".group, fieldset");
    whole.remove();
    home.querySelector(":scope > button, :scope > .line > button").focus();
    changed();
  });
  line.append(remove);
  return line;
}

function addFilter(list) {
  const field = choose("Column", fieldNames(currentTable()));
  const op = choose("Operator", operators);
  op.className = "short";
  const line = element("div", {className: "line filter"}, field, op);
  let value = element("input", {ariaLabel: "Value", spellcheck: false});
  line.append(value);
  op.addEventListener("change", () => {
    const member = op.value === "in" || op.value === "nin";
    const fresh = member ? element("textarea", {rows: 2, placeholder: "one value a line"}) : element("input", {});
    fresh.ariaLabel = member ? "Values, one a line" : "Value";
    fresh.spellcheck = false;
    fresh.value = value.value;
    fresh.hidden = op.value === "isnull" || op.value === "notnull";
    value.replaceWith(fresh);
    value = fresh;
  });
  list.append(removable(line));
  return field;
}

function addGroup() {
  const list = element("div", {className: "filters"});
  const add = element("button", {type: "button", className: "quiet"}, "Add a filter to this group");
  add.addEventListener("click", () => { addFilter(list).focus(); changed(); });
  const buttons = element("div", {className: "line"}, add);
  const group = element("div", {className: "group", role: "group", ariaLabel: "Group of filters"}, list, buttons);
  removable(buttons, group);
  byId("ask-or").append(group);
  addFilter(list);
}

function addSort() {
  const dir = choose("Direction", [["asc", "ascending"], ["desc", "descending"]]);
  dir.className = "short";
  byId("ask-sort").append(removable(element("div", {className: "line sort"}, choose("Sort by", fieldNames(currentTable())), dir)));
}

function addJoin() {
  const table = currentTable();
  const links = [];
  for (const from of tables) {
    for (const key of from.foreignKeys) links.push([JSON.stringify([from.name, key.field, key.targetTable, key.targetField]),
      `${shown(from.name)}.${shown(key.field)} = ${shown(key.targetTable)}.${shown(key.targetField)}`]);
  }
  links.sort((a, b) => JSON.parse(b[0])[0] === table.name ? 1 : JSON.parse(a[0])[0] === table.name ? -1 : 0);
  const line = element("div", {className: "line join"});
  const link = choose("Linked by", [...links, ["", "other columns"]]);
  const from = element("input", {ariaLabel: "From, as table.field", placeholder: "table.field"});
  const to = element("input", {ariaLabel: "To, as table.field", placeholder: "table.field"});
  const fields = element("select", {ariaLabel: "Columns of the linked table", multiple: true, size: 3});
  const fill = () => {
    from.hidden = to.hidden = link.value !== "";
    const target = link.value ? JSON.parse(link.value)[2] : to.value.split(".")[0];
    const known = tables.find((t) => t.name === target)?.fields || [];
    fields.replaceChildren(...known.map((f, i) => element("option", {value: f.name, selected: i < 2}, shown(f.name))));
  };
  link.addEventListener("change", fill);
  to.addEventListener("change", fill);
  line.append(link, from, to, fields);
  fill();
  byId("ask-joins").append(removable(line));
}

function addGroupKey() {
  const grain = choose("Period", [["", "the value"], "year", "quarter", "month", "day"]);
  grain.className = "short";
  byId("ask-groupby").append(removable(element("div", {className: "line key"}, choose("Group by", fieldNames(currentTable())), grain)));
}

function addMeasure() {
  const fn = choose("Function", figures);
  fn.className = "short";
  byId("ask-measures").append(removable(element("div", {className: "line measure"}, fn,
    choose("Of", [["", "rows"], ...fieldNames(currentTable())]))));
}

function filters(list) {
  return [...list.querySelectorAll(":scope > .filter")].map((line) => {
    const [field, op, value] = line.children;
    return {field: field.value, op: op.value, text: value.value};
  });
}

// question returns what the form asks.
function question() {
  const lines = (id, kind) => [...byId(id).querySelectorAll(":scope > ." + kind)];
  return {
    kind: document.querySelector("[name=ask-kind]:checked").value,
    table: byId("ask-table").value,
    and: filters(byId("ask-and")),
    or: [...byId("ask-or").children].map((group) => filters(group.querySelector(".filters"))),
    sort: lines("ask-sort", "sort").map((l) => ({field: l.children[0].value, dir: l.children[1].value})),
    limit: byId("ask-limit").value, offset: byId("ask-offset").value,
    fields: [...byId("ask-fields").querySelectorAll("input:checked")].map((c) => c.value),
    joins: lines("ask-joins", "join").map((l) => {
      const [link, from, to, fields] = l.children;
      const split = (text) => { const at = text.indexOf("."); return [text.slice(0, at), text.slice(at + 1)]; };
      const [fromTable, fromField, toTable, toField] = link.value ? JSON.parse(link.value) : [...split(from.value), ...split(to.value)];
      return {fromTable, fromField, toTable, toField, fields: [...fields.selectedOptions].map((o) => o.value)};
    }),
    groupBy: lines("ask-groupby", "key").map((l) => ({field: l.children[0].value, grain: l.children[1].value})),
    measures: lines("ask-measures", "measure").map((l) => ({fn: l.children[0].value, field: l.children[1].value})),
    top: byId("ask-top").value, topBy: byId("ask-topby").value,
  };
}

// changed shows the question as a request.
let previews = 0;
async function changed(event) {
  const kind = document.querySelector("[name=ask-kind]:checked").value;
  for (const e of document.querySelectorAll("[data-kinds]")) e.hidden = !e.dataset.kinds.split(" ").includes(kind);
  const topBy = byId("ask-topby"), chosen = topBy.value;
  topBy.replaceChildren(...question().measures.map((m, i) => element("option", {value: String(i)}, `${figures.find(([fn]) => fn === m.fn)[1]} ${shown(m.field) || "rows"}`)));
  if (chosen) topBy.value = chosen;
  const mine = ++previews;
  const view = await post("preview", question()).catch((e) => ({problem: e.message}));
  if (mine !== previews) return;
  byId("ask-json").textContent = view.json || "";
  byId("ask-curl").textContent = view.curl || "";
  // What is still being typed is no error yet.
  const typing = view.unfinished || event?.type === "input" && event.target === document.activeElement && event.target.tagName !== "SELECT";
  byId("ask-problem").className = typing ? "note" : "note bad";
  byId("ask-problem").textContent = view.problem || "";
  byId("ask-problem").hidden = !view.problem;
  allow(byId("ask-run"), view.problem);
}

function chooseTable() {
  for (const id of ["ask-and", "ask-or", "ask-sort", "ask-joins", "ask-groupby", "ask-measures"]) byId(id).replaceChildren();
  byId("ask-fields").replaceChildren(...currentTable().fields.map((f) =>
    element("label", {}, element("input", {type: "checkbox", value: f.name, checked: true}), shown(f.name))));
  addGroupKey();
  addMeasure();
  changed();
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") running?.abort();
});

// toAnswer scrolls to the answer, if its beginning is not in sight.
function toAnswer() {
  const top = byId("ask-answer").getBoundingClientRect().top;
  if (top < 0 || top > innerHeight / 2) byId("ask-answer").scrollIntoView({block: "start"});
}

// filterBy asks for the rows of a table with the value of a cell.
function filterBy(cell) {
  const table = tables[cell.closest("[data-table]").dataset.table], field = table.fields[cell.dataset.field].name;
  show("ask");
  if (byId("ask-table").value !== table.name) {
    byId("ask-table").value = table.name;
    chooseTable();
  }
  document.querySelector("[name=ask-kind][value=rows]").checked = true;
  for (const line of byId("ask-and").querySelectorAll(".filter")) { // another value of the same field
    if (line.children[0].value === field && ["eq", "isnull"].includes(line.children[1].value)) line.remove();
  }
  addFilter(byId("ask-and")).focus();
  const line = byId("ask-and").lastElementChild;
  line.children[0].value = field;
  line.children[1].value = cell.dataset.null === undefined ? "eq" : "isnull";
  line.children[1].dispatchEvent(new Event("change"));
  line.children[2].value = cell.dataset.null === undefined ? cell.value : "";
  changed();
  if (!running) run();
}

// save asks the question of the answer once more, and saves all its rows in a file.
async function save(button) {
  const said = byId("ask-saved");
  button.setAttribute("aria-busy", "true");
  said.textContent = "Saving…";
  try {
    const answer = await fetch("csv", {method: "POST", body: answered});
    if (!answer.ok) throw new Error(await answer.text());
    const link = element("a", {href: URL.createObjectURL(await answer.blob()), download: JSON.parse(answered).table.replace(/[^\w.-]+/g, "_") + ".csv"});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    said.textContent = "Saved.";
  } catch (e) {
    said.textContent = "The answer broke off, and nothing was saved: " + e.message;
  }
  button.removeAttribute("aria-busy");
}

async function run() {
  if (running) {
    running.abort();
    return;
  }
  running = new AbortController();
  byId("ask-run").textContent = "Stop";
  byId("ask-answer").replaceChildren();
  byId("ask-answer").setAttribute("aria-busy", "true");
  toAnswer();
  try {
    answered = JSON.stringify(question());
    const answer = await fetch("ask", {method: "POST", body: answered, signal: running.signal});
    if (!answer.ok) throw new Error(await answer.text());
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const {done, value} = await reader.read();
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const {id, html, append} = JSON.parse(line);
        const place = byId(id);
        if (!place) continue;
        if (append) place.insertAdjacentHTML("beforeend", html); else place.innerHTML = html;
        if (id === "ask-rows") toAnswer(); // the page was too short before to scroll so far
      }
    }
  } catch (e) {
    byId("ask-answer").append(element("p", {className: "note bad"}, running.signal.aborted ? "Stopped." : e.message));
  }
  running = null;
  byId("ask-run").textContent = "Ask";
  byId("ask-answer").removeAttribute("aria-busy");
}

// startAsk makes the panel that the program has sent work.
function startAsk() {
  const form = byId("ask-form");
  if (!form) return;
  tables = JSON.parse(form.dataset.tables);
  labels = JSON.parse(form.dataset.labels);
  if (tables.length === 0) return;
  byId("ask-table").replaceChildren(...tables.map((t) => element("option", {value: t.name}, shown(t.name))));
  byId("ask-table").addEventListener("change", chooseTable);
  const adding = {
    "add-filter": () => addFilter(byId("ask-and")), "add-group": addGroup, "add-sort": addSort,
    "add-join": addJoin, "add-key": addGroupKey, "add-measure": addMeasure,
  };
  for (const [id, add] of Object.entries(adding)) {
    byId(id).addEventListener("click", () => {
      add();
      byId(id).previousElementSibling.lastElementChild.querySelector("select").focus(); // what was added
      changed();
    });
  }
  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!running) {
      await changed(); // what was typed last may have mended the question, or spoiled it
      if (running || refused(byId("ask-run"))) return;
    }
    run();
  });
  chooseTable();
}

enqueue(async () => {
  const view = await (await fetch("form")).json();
  reset(view);
  render(view);
  byId("connect-form").hidden = view.connected;
  if (!view.connected) (view.url && view.hasToken ? byId("read") : view.url ? byId("token") : byId("name")).focus();
});
