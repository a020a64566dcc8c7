package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/millrace-go/millrace"
)

// storePlan writes the plan to the file of -o, which only the user can read, because it has contents of files.
func (s *session) storePlan(plan *millrace.Plan) error {
	if err := writePrivate(s.base(s.flags.store), plan); err != nil {
		return err
	}
	s.talk("stored in %s: millrace apply %[1]s --digest %s", s.flags.store, digestOf(plan))
	return nil
}

// askStore asks for a name and stores the plan there.
func (s *session) askStore(ctx context.Context, plan *millrace.Plan) error {
	name, err := s.App.ask(ctx, "File: ")
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil || name == "" {
		return errDeclined
	}
	s.flags.store = name
	return s.storePlan(plan)
}

// writePrivate writes a value as JSON to a file that only the user can read.
func writePrivate(name string, v any) error {
	data, err := json.Marshal(v)
	if failed, ok := err.(*json.MarshalerError); ok {
		err = failed.Err // the inner error of the value has a clearer message
	}
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if len(data) > maxInput {
		return &outputError{fmt.Errorf(
			"the plan was not stored: it has %d bytes, and more than %d are not read again: split the change",
			len(data), maxInput)}
	}
	if err := writeFile(name, data, 0o600); err != nil {
		return &outputError{fmt.Errorf("the plan was not stored: %w", err)}
	}
	return nil
}

// writeFile writes a file atomically: it exists completely or not at all.
func writeFile(name string, data []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".millrace-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
