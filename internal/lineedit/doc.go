// Package lineedit works out what edits of whole lines do to the bytes of a file.
//
// A line is what ends with "\n", or with the file; its end belongs to it. Lines count from 1, and from the end with
// negative numbers, -1 being the last one. A file without bytes has no lines. A byte order mark belongs to the first
// line where lines are read, but edits leave it where it is.
//
// All edits of one [File] refer to it as it is, and none of them sees what another one does. What they come to is a
// list of splices in ascending order. Text is put in as it is given, except that a line end is added where another
// line follows. Which one that is, and whether text is fitted to the file before, is the business of [Form].
package lineedit
