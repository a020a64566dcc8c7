// Package ownbackend shows a file system of one's own: an afero.Fs over the tables of a bbolt database.
//
// The database has two tables. One has a row for each name, with a number. The other has a row for each number, with
// mode, time and bytes. So a rename changes the names and leaves the bytes alone. Each call is a transaction that is on
// the disk when the call returns. That gives the file system the abilities in abilities.go, and its commits the highest
// level of safety.
//
// The test holds the file system to the contract of package millracetest.
package ownbackend
