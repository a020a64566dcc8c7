package scratch

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/walk"
)

// Rests is the state of a view on which the answer of a program rests: all entries, and the absence of other names. The
// times of directories do not count.
type Rests struct {
	// Sum is the same for equal views. It covers everything that is known without reading files.
	Sum change.Hash
	// Recent are the files that were changed a moment ago, with the hashes of their bytes. Only the hash would show
	// another change of such a file.
	Recent map[string]change.Hash
}

// RestsOf returns the Rests of an answer to the current view.
func RestsOf(ctx context.Context, view *stage.Stage) (Rests, error) {
	var mu sync.Mutex
	prints := make(map[string][]byte)
	rests := Rests{Recent: make(map[string]change.Hash)}
	unread := []byte{'u'}
	err := walk.Walk(ctx, view, ".", walk.Options{
		Workers: workers(), NoIgnore: true, All: true,
		OnError: func(name string, err error) error {
			if name == "." || !errors.Is(err, fs.ErrPermission) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			prints[name] = unread
			return nil
		},
	}, func(found walk.Entry) error {
		name := found.Path()
		print, certain, err := printIn(view, name, found)
		var hash change.Hash
		if err == nil && !certain {
			hash, err = view.HashOf(name)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it was removed during the walk
		case errors.Is(err, fs.ErrPermission):
			print, certain = unread, true // no program sees it
		case err != nil:
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if prints[name] == nil { // otherwise it could not be read
			prints[name] = print
		}
		if !certain {
			rests.Recent[name] = hash
		}
		return nil
	})
	if err != nil {
		return Rests{}, err
	}
	sum := sha256.New()
	var buf []byte
	for _, name := range slices.Sorted(maps.Keys(prints)) {
		for _, text := range [...][]byte{[]byte(name), prints[name]} {
			buf = append(binary.AppendUvarint(buf[:0], uint64(len(text))), text...)
			sum.Write(buf)
		}
	}
	rests.Sum = change.Hash(sum.Sum(nil))
	return rests, nil
}

// printIn returns the print of an entry of the view.
func printIn(view *stage.Stage, name string, found walk.Entry) ([]byte, bool, error) {
	info, err := found.Info()
	if err != nil {
		return nil, false, err
	}
	return view.PrintIn(name, info)
}

// AreOf reports whether the files in Recent still have the same bytes.
func (r Rests) AreOf(ctx context.Context, view *stage.Stage) bool {
	for name, then := range r.Recent {
		if now, err := view.HashOf(name); err != nil || now != then || ctx.Err() != nil {
			return false
		}
	}
	return true
}
