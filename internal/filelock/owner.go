package filelock

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// owner is the owner of the tree, as named by the mark.
type owner struct {
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	Token string    `json:"token"` // of this lock
	// Process is a random text that identifies the process. The process number is not enough: the first process of a
	// container always has the same number.
	Process string `json:"process,omitempty"`
	// The following are empty if the system does not report them. Boot identifies the run of the machine's kernel, Space
	// the namespace of process numbers, and Started the start time of the process, in a unit of the system.
	Boot    string `json:"boot,omitempty"`
	Space   string `json:"space,omitempty"`
	Started string `json:"started,omitempty"`
	// System identifies the file that the owner also holds a lock of. The system releases that lock when the process dies.
	System string `json:"system,omitempty"`
}

// thisProcess describes this process in all of its locks; it does not change during the process's life. Only this
// process has its random text.
var thisProcess = sync.OnceValue(func() owner {
	o := owner{PID: os.Getpid(), Process: rand.Text(), Boot: bootID(), Space: processSpace()}
	_, o.Started = lookUpProcess(o.PID)
	return o
})

// newOwner describes this process, for one lock.
func newOwner() owner {
	o := thisProcess()
	o.Token, o.Since = rand.Text(), time.Now().UTC().Truncate(time.Second)
	o.Host, _ = os.Hostname() // without a name, less can be compared
	return o
}

// String names the process. Any program may have written the content of a mark.
func (o *owner) String() string {
	if o.PID <= 0 {
		return "another run"
	}
	return fmt.Sprintf("process %d on %q since %s", o.PID, o.Host, o.Since.Format(time.RFC3339))
}

// sameMachine reports whether the owner ran on this machine since its last start.
func (o *owner) sameMachine(me *owner) bool {
	return o.Boot == me.Boot && (me.Boot != "" || o.Host != "" && o.Host == me.Host)
}

// known reports whether the owner's process number means the same here.
func (o *owner) known(me *owner) bool { return o.sameMachine(me) && o.Space == me.Space }

// gone reports whether the owner is certainly dead, as seen from me.
func (o *owner) gone(me *owner) bool {
	switch {
	case o.PID <= 0 || o.Token == "":
		return false
	case o.sameMachine(me) && o.System != "" && o.System == me.System:
		return true // the system would not give that lock to two processes
	case o.known(me), o.Boot == "" && o.Host != "" && o.Host == me.Host:
	default:
		// A machine of that name that was restarted has none of the earlier processes.
		return o.Boot != "" && me.Boot != "" && o.Boot != me.Boot && o.Host != "" && o.Host == me.Host
	}
	if o.PID == me.PID {
		return o.Process != me.Process
	}
	alive, started := lookUpProcess(o.PID)
	return !alive || o.Started != "" && started != "" && o.Started != started
}

// signals reports whether a process may have that number: a process that has ended keeps it until its parent waits for
// it.
func signals(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false // only Windows checks this
	}
	defer p.Release()
	err = p.Signal(syscall.Signal(0))
	return !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
}
