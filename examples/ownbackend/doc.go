// Package ownbackend shows a custom file system: an afero.Fs over the tables of a bbolt database.
//
// The database has two tables. One has a row for each name, with a number. The other has a row for each number, with
// mode, time and bytes. So a rename changes only names. Each call is a transaction that is on the disk when the call
// returns. So the file system has the abilities in abilities.go, and its commits have the highest level of safety.
//
// The test checks the file system with package millracetest.
package ownbackend
