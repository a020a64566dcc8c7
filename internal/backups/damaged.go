package backups

import (
	"fmt"
	"strings"

	"github.com/millrace-go/millrace/internal/errorform"
)

// DamagedError lists the files of a backup that differ from the files that were kept.
type DamagedError struct {
	ID    string
	Files []Damage // in path order
}

// Damage is one file of a backup that cannot be restored.
type Damage struct {
	// Path is where the file was in the tree, Image where it is kept.
	Path, Image string
	Reason      string
	// MovedTo is the new path if the commit renamed and changed the file, "" otherwise. The file there is the only
	// undamaged copy.
	MovedTo string
}

// mostDamaged is how many files the message of a DamagedError names.
const mostDamaged = 10

// Error names the files, of more than ten the first ten and their number.
func (e *DamagedError) Error() string {
	named, count := e.Files, ""
	if len(named) > mostDamaged {
		named, count = named[:mostDamaged], fmt.Sprintf("%d files, and first of these: ", len(named))
	}
	texts := make([]string, len(named))
	for i, d := range named {
		texts[i] = d.Path + ": " + d.Reason
	}
	return fmt.Sprintf("backup %s is damaged: %s%s", e.ID, count, strings.Join(texts, "; "))
}

// Paths returns the files that cannot be restored.
func (e *DamagedError) Paths() []string {
	paths := make([]string, len(e.Files))
	for i, one := range e.Files {
		paths[i] = one.Path
	}
	return paths
}

// MarshalJSON gives the code, the message and the paths.
func (e *DamagedError) MarshalJSON() ([]byte, error) { return errorform.Marshal(errorform.Conflict, e) }

// Code returns "conflict".
func (e *DamagedError) Code() string { return errorform.Conflict }
