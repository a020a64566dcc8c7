package command

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// unusedCaches is the time for which the caches of a tree are kept after the last policy for it.
const unusedCaches = 30 * 24 * time.Hour

// cache creates a directory that only commands for this tree write to, and sets a variable to it.
func (f *fitting) cache(variable, name string) error {
	if _, ok := f.Env[variable]; ok {
		return nil
	}
	top := f.Scratch
	if top == "" {
		var err error
		if top, err = os.UserCacheDir(); err != nil {
			return fmt.Errorf("no directory for the caches of toolchains: %w; set Scratch", err)
		}
	}
	sum := sha256.Sum256([]byte(f.root))
	f.caches = filepath.Join(top, "millrace-toolchains", hex.EncodeToString(sum[:8]))
	dir := filepath.Join(f.caches, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the cache of a toolchain: %w", err)
	}
	f.Write = append(f.Write, dir)
	f.Env[variable] = dir
	return nil
}

// prune marks the caches of this tree as used, and removes the caches of trees that were not used for long. A remaining
// cache costs only space, so errors are ignored.
func (f *fitting) prune(now time.Time) {
	if f.caches == "" || os.Chtimes(f.caches, now, now) != nil {
		return
	}
	all, err := os.ReadDir(filepath.Dir(f.caches))
	if err != nil {
		return
	}
	for _, entry := range all {
		name := entry.Name()
		if sum, err := hex.DecodeString(name); err != nil || len(sum) != 8 || !entry.IsDir() {
			continue
		}
		if info, err := entry.Info(); err == nil && now.Sub(info.ModTime()) > unusedCaches {
			_ = private(filepath.Join(filepath.Dir(f.caches), name)).remove()
		}
	}
}
