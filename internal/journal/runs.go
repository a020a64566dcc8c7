package journal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/names"
)

// maxRun limits how much of a stored result is read, in bytes: it can contain whole files, but it may also have been
// planted.
const maxRun = 1 << 30

var (
	errOtherPipeline = errors.New("it was used for another pipeline on this tree")
	errForeignRun    = errors.New(
		"the stored result was not written by this user; remove it if it is not to be believed")
)

// run is the stored part of a run. It is committed together with the change, so it exists if and only if the change was
// made.
type run struct {
	Digest string          `json:"digest"` // of the pipeline
	Result json.RawMessage `json:"result"`
	// MAC prevents a tree from elsewhere from claiming that a run was done.
	MAC []byte `json:"mac"`
}

func (r run) sign(key []byte, id string) []byte {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "millrace run 1\n%s\n%s\n", id, r.Digest)
	mac.Write(r.Result)
	return mac.Sum(nil)
}

// EncodeRun returns the JSON file that stores the result of a run; digest is the digest of its pipeline.
func EncodeRun(key []byte, id, digest string, result []byte) ([]byte, error) {
	r := run{Digest: digest, Result: result}
	r.MAC = r.sign(key, id)
	data, err := json.Marshal(r)
	if err == nil && len(data) > maxRun {
		err = fmt.Errorf("the result has %d bytes, at most %d can be stored", len(data), maxRun)
	}
	return data, err
}

// Discard removes the directory of a transaction or of a backup. Its marker is removed first, durably, so that a partly
// removed directory is never read as a complete one.
func Discard(d *disk.Disk, dir string) error {
	at, err := d.Look(dir)
	if err != nil || at.Kind != change.Dir {
		return errors.Join(err, d.Remove(dir)) // a link, which is not followed
	}
	for _, mark := range []string{PlanFile, DoneFile} {
		if err := d.RemoveTree(path.Join(dir, mark)); err != nil {
			return err
		}
	}
	if err := d.SyncAnyDir(dir); err != nil {
		return err
	}
	return d.RemoveTree(dir)
}

// ReadRun returns the result in the file of a run. The error is fs.ErrNotExist if the run has no result. A result of a
// pipeline with another digest, or with another key's signature, is refused.
func ReadRun(fsys afero.Fs, stateDir string, key []byte, id string, digest func() string) ([]byte, error) {
	data, err := disk.Open(fsys).Read(path.Join(stateDir, ResultsDir, id+".json"), maxRun+1)
	if err == nil && len(data) > maxRun {
		err = names.ErrTooLarge
	}
	if err != nil {
		return nil, err
	}
	var r run
	switch err := json.Unmarshal(data, &r); {
	case err != nil:
		return nil, fmt.Errorf("stored result: %w", err)
	case !hmac.Equal(r.MAC, r.sign(key, id)):
		return nil, errForeignRun
	case r.Digest != digest():
		return nil, errOtherPipeline
	}
	return r.Result, nil
}
