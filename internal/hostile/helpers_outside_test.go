package hostile_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace"
)

// secretText is the content of every file outside the tree.
const secretText = "TOP-SECRET needle\n"

// outside is next to the tree, and must not be touched:
//
//	secret/file       the secret
//	secret/sub/file   another secret
//	root-evil/f       in a sibling whose name begins like the tree's
type outside struct {
	parent string
	before map[string]string
	opened func() []string // the entries that were opened since the beginning; nil if the system does not report that
}

func newOutside(t *testing.T, parent string) *outside {
	t.Helper()
	o := &outside{parent: parent}
	for _, name := range []string{"secret/file", "secret/sub/file", "root-evil/f"} {
		path := filepath.Join(parent, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(secretText), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, longAgo, longAgo); err != nil {
			t.Fatal(err)
		}
	}
	o.before = o.snapshot(t)
	o.opened = watch(t, filepath.Join(parent, "secret"), filepath.Join(parent, "secret", "sub"), filepath.Join(parent, "root-evil"))
	return o
}

// snapshot describes everything outside.
func (o *outside) snapshot(t *testing.T) map[string]string {
	t.Helper()
	all := snapshotDir(t, o.parent, "root")
	delete(all, "root")
	return all
}

// checkOutside fails the test if something outside the tree was changed or opened.
func (b *backend) checkOutside(t *testing.T) {
	t.Helper()
	if b.outside == nil {
		return
	}
	b.checkOpened(t)
	defer b.forgetOpened()
	if now := b.outside.snapshot(t); !maps.Equal(now, b.outside.before) {
		t.Errorf("outside of the tree\n got %v\nwant %v", now, b.outside.before)
	}
}

func (b *backend) checkOpened(t *testing.T) {
	t.Helper()
	if b.outside.opened == nil {
		return
	}
	for _, what := range b.outside.opened() {
		t.Errorf("outside of the tree: %s", what)
	}
}

// forgetOpened forgets the entries that the test itself opened.
func (b *backend) forgetOpened() {
	if b.outside.opened != nil {
		b.outside.opened()
	}
}

// changeOutside lets the test itself change the outside, and expects the result from then on.
func (b *backend) changeOutside(t *testing.T, change func()) {
	t.Helper()
	b.checkOpened(t)
	change()
	b.outside.before = b.outside.snapshot(t)
	b.forgetOpened()
}

// checkSilent fails the test if a result or an error contains a secret.
func checkSilent(t *testing.T, res *millrace.Result, err error) {
	t.Helper()
	secret := []byte("TOP-SECRET")
	if err != nil && bytes.Contains([]byte(err.Error()), secret) {
		t.Errorf("the error contains a secret: %v", err)
	}
	if res == nil {
		return
	}
	data, jerr := json.Marshal(res)
	if jerr != nil {
		t.Fatal(jerr)
	}
	var report bytes.Buffer
	if werr := res.WriteReport(&report); werr != nil {
		t.Fatal(werr)
	}
	if bytes.Contains(data, secret) || bytes.Contains(report.Bytes(), secret) {
		t.Errorf("the result contains a secret: %s", data)
	}
}
