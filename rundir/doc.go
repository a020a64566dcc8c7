// Package rundir keeps durable runs in a directory: [Open] gives a [Store], through which any number of processes look
// at them. Nothing needs a server or a database.
//
// # The files
//
//	DIR/                      mode 0700
//	  .gitignore              "*", in a state directory: values and differences are not for version control
//	  format                  "millrace runs 1"
//	  index                   a slot of 512 bytes for each run, for lists; may be deleted at any time
//	  000001/000001234/       run 1234
//	    run                   signed records of what has happened: the truth. Its lock means that a process works on it
//	    data                  bytes that records name
//	    log                   the lines of the jobs
//	    control/              requests of other processes
//	    plan.json diff        what a run that waits would change
//	    targets children      of a fleet
//	  trash/                  runs that are being removed
//
// The process that works on a run holds the lock of its file run, and no other process writes into its directory.
// Readers take no lock: they read as far as the records are whole, signed with the user's key, and follow each other. A
// run whose status reports that a process works on it, and whose lock is free, is one whose process has died.
//
// The directory may have come from a stranger. All files are opened by names that lead nowhere else, must be
// regular files, and are read up to a limit. Runs that the user's key has not signed, and copies of runs, are shown as
// foreign, and nothing can be done with them but that retention removes them.
package rundir
