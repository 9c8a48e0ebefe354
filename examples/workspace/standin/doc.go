// Package standin is the workflow platform's HTTP API in memory, as far as its
// two documents show it: the general API and workflow runs by key. You use it
// in tests and demonstrations in place of the service. It needs no network,
// starts from seeded data, and gives the same answers on every start.
//
// What the documents call "not shown" is answered by the simplest choice;
// STANDIN.md lists each of them.
package standin
