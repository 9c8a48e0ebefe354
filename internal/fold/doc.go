// Package fold has what is needed wherever rows are kept, grouped or joined:
// exact sums, the periods of dates, the keys of joins, and copies of rows with
// their cost. A source that reads rows uses it, and so does the platform for
// what a connector leaves to it.
package fold
