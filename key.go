package millrace

import (
	"fmt"

	"github.com/millrace-go/millrace/internal/journal"
)

// checkKey refuses a key that anybody could guess. An empty one is no nil key: it is what a setting that nobody has set gives.
func (x Executor) checkKey() error {
	if x.Key != nil && len(x.Key) < journal.MinKeySize {
		return &ExecutorError{Field: "Key", Err: fmt.Errorf("%d bytes are too few, at least %d are needed, better %d random ones; nil stands for the key of the user",
			len(x.Key), journal.MinKeySize, journal.KeySize)}
	}
	return nil
}

// signing returns what the state directory is signed with, and makes the user's key if it is needed and not there.
func (t *tree) signing() (journal.Key, error) {
	if t.x.Key != nil {
		return journal.Key{Bytes: t.x.Key}, nil
	}
	return journal.KeyFor(t.fs)
}

// keyWarnings say what a commit does without because there is no key, nil if there is one.
func (t *tree) keyWarnings(key journal.Key) []string {
	if key.Missing == nil {
		return nil
	}
	const way = "Set Executor.Key, or make the directory for settings of this user writable"
	warnings := []string{fmt.Sprintf("journal and backups are not signed, because %v. %s", key.Missing, way)}
	if t.x.RunID != "" {
		warnings = append(warnings, fmt.Sprintf("the result of run id %q is not stored, because %v. %s", t.x.RunID, key.Missing, way))
	}
	return warnings
}
