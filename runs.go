package millrace

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/journal"
)

// RunIDError says that a run id cannot be used on this tree.
type RunIDError struct {
	RunID string
	Err   error
}

// Error names the id.
func (e *RunIDError) Error() string { return fmt.Sprintf("run id %q: %v", e.RunID, e.Err) }

// Unwrap returns the reason.
func (e *RunIDError) Unwrap() error { return e.Err }

var (
	errOtherPipeline = errors.New("it was used for another pipeline on this tree")
	errForeignRun    = errors.New("the stored result was not written by this user; remove it if it is not to be believed")
)

// storedResult is what is kept of a run: it is committed together with the change, so that there is one if and only if
// the change was made.
type storedResult struct {
	Digest string          `json:"digest"` // of the pipeline
	Result json.RawMessage `json:"result"`
	// MAC keeps a tree that came from elsewhere from telling that a run has been done.
	MAC []byte `json:"mac"`
}

func (s storedResult) sign(key []byte, runID string) []byte {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "millrace run 1\n%s\n%s\n", runID, s.Digest)
	mac.Write(s.Result)
	return mac.Sum(nil)
}

// encodeRun returns the bytes that are to be committed with the change.
func (t *tree) encodeRun(key []byte, digest string, res *Result) ([]byte, error) {
	data, err := json.Marshal(res)
	if err != nil {
		return nil, err
	}
	s := storedResult{Digest: digest, Result: data}
	s.MAC = s.sign(key, t.x.RunID)
	if data, err = json.Marshal(s); err == nil && len(data) > maxRun {
		err = &RunIDError{RunID: t.x.RunID, Err: fmt.Errorf("the result has %d bytes, at most %d can be stored", len(data), maxRun)}
	}
	return data, err
}

// maxRun limits what is read of a stored result, in bytes: whole files may be in it, but it may also have been planted.
const maxRun = 1 << 30

func (t *tree) readRun(name string) ([]byte, error) {
	f, err := t.fs.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fsutil.ErrNotRegular
	case info.Size() > maxRun:
		return nil, fsutil.ErrTooLarge
	}
	return io.ReadAll(io.LimitReader(f, info.Size()))
}

// storedRun returns the result of the executor's run if it was committed on this tree, or nil. The error is that of the step
// which had failed then, if one had.
func (t *tree) storedRun(digest func() string) (*Result, error) {
	if t.x.RunID == "" {
		return nil, nil
	}
	key, err := t.signing()
	if err != nil || key.Missing != nil {
		return nil, err // without a key anybody could have written what is there; the commit warns of it
	}
	fail := func(err error) (*Result, error) { return nil, &RunIDError{RunID: t.x.RunID, Err: err} }
	data, err := t.readRun(t.stateDir + "/" + journal.RunsDir + "/" + t.x.RunID + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return fail(err)
	}
	var s storedResult
	if err := json.Unmarshal(data, &s); err != nil {
		return fail(fmt.Errorf("stored result: %w", err))
	}
	if !hmac.Equal(s.MAC, s.sign(key.Bytes, t.x.RunID)) {
		return fail(errForeignRun)
	}
	if s.Digest != digest() {
		return fail(errOtherPipeline)
	}
	var res Result
	if err := json.Unmarshal(s.Result, &res); err != nil {
		return fail(fmt.Errorf("stored result: %w", err))
	}
	res.Replayed = true
	return &res, committedAllTheSame(res.failedStep())
}
