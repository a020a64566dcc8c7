package errorfs

import (
	"io/fs"
	"os"
	"path"
	"sync"
	"syscall"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
)

// Lack is an ability that a mount lacks, for example one over FUSE or a network. Lacks can be combined.
type Lack uint

// The lacks.
const (
	// NoReplace: a rename that replaces nothing. Linux refuses a taken name with EEXIST, and asks the mount only about
	// free names. The mount answers with EINVAL.
	NoReplace Lack = 1 << iota
	// Exchange of two names.
	Exchange
	// Links: hard links.
	Links
	// FreshFacts: after a link was made, the file's first name shows the old change time and number of links for a while.
	FreshFacts
)

// Mount is a Hook for a mount without the abilities in lacks. The abilities in within only work for two names in the
// same directory, so that a test with two files next to each other succeeds.
func Mount(below afero.Fs, lacks, within Lack) Hook {
	m := &mount{below: below, late: make(map[string]late)}
	return func(op *Op, do func() error) error {
		lack := map[string]Lack{"noreplace": NoReplace, "exchange": Exchange, "link": Links}[op.Kind]
		if lack&lacks != 0 || lack&within != 0 && path.Dir(op.From) != path.Dir(op.Name) {
			return m.refuse(op)
		}
		if lacks&FreshFacts != 0 {
			return m.lag(op, do)
		}
		return do()
	}
}

type mount struct {
	below afero.Fs
	mu    sync.Mutex
	late  map[string]late
}

// late is the identity of a file before it got another name, and how many more times it is reported.
type late struct {
	id    capability.Identity
	times int
}

// told is how many times an old identity is reported.
const told = 4

// oldFacts is a FileInfo with an old identity.
type oldFacts struct {
	fs.FileInfo
	id capability.Identity
}

func (m *mount) exists(name string) bool {
	_, _, err := m.below.(afero.Lstater).LstatIfPossible(name)
	return err == nil
}

// refuse returns the kernel's error: the kernel looks at the names before it asks the mount.
func (m *mount) refuse(op *Op) error {
	err := error(syscall.EINVAL)
	switch {
	case !m.exists(op.From), op.Kind == "exchange" && !m.exists(op.Name):
		err = syscall.ENOENT
	case op.Kind != "exchange" && m.exists(op.Name):
		err = syscall.EEXIST
	case op.Kind == "link":
		err = syscall.EPERM
	}
	return &os.LinkError{Op: op.Kind, Old: op.From, New: op.Name, Err: err}
}

func (m *mount) lag(op *Op, do func() error) error {
	switch op.Kind {
	case "link":
		return m.link(op, do)
	case "identity":
		if old, ok := op.Info.(oldFacts); ok {
			op.Info = old.FileInfo
			err := do()
			op.ID.CTime, op.ID.Nlink = old.id.CTime, old.id.Nlink
			return err
		}
	case "lstat":
		err := do()
		m.mu.Lock()
		defer m.mu.Unlock()
		if l := m.late[op.Name]; err == nil && l.times > 0 {
			l.times--
			m.late[op.Name] = l
			op.Info = oldFacts{op.Info, l.id}
		}
		return err
	case "rename", "noreplace", "exchange", "remove":
		m.mu.Lock()
		delete(m.late, op.Name)
		delete(m.late, op.From)
		m.mu.Unlock()
	}
	return do()
}

func (m *mount) link(op *Op, do func() error) error {
	info, _, err := m.below.(afero.Lstater).LstatIfPossible(op.From)
	if err != nil {
		return err
	}
	id, _ := m.below.(capability.Identifier).IdentityOf(info)
	if err := do(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.late[op.From] = late{id, told}
	return nil
}
