// Package rundir keeps durable runs in a directory: [Open] returns a [Store], through which any number of processes can
// read them. No server or database is needed.
//
// # The files
//
//	DIR/                      mode 0700
//	  .gitignore              "*", in a state directory: values and differences are not for version control
//	  format                  "millrace runs 1"
//	  index                   a slot of 512 bytes for each run, for lists; may be deleted at any time
//	  000001/000001234/       run 1234
//	    run                   signed records of the run's events: the truth. Its lock means that a process works on it
//	    data                  bytes that records refer to
//	    log                   the lines of the jobs
//	    control/              requests of other processes
//	    plan.json diff        the planned changes of a waiting run
//	    targets children      of a fleet
//	  trash/                  runs that are being removed
//
// The process that works on a run holds the lock of its file run, and no other process writes into its directory.
// Readers take no lock: they read as long as the records are complete, signed with the user's key, and in sequence. If
// the status of a run reports that a process works on it, but its lock is free, its process has died.
//
// The directory may have come from a stranger. All files are opened by names that cannot lead elsewhere, must be
// regular files, and are read up to a limit. Runs that the user's key has not signed, and copies of runs, are shown as
// foreign. They can only be read, and removed by retention.
package rundir
