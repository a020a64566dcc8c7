package commit_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/journal"
)

// TestPlanted finds journals that came with a cloned tree, with and without a key.
func TestPlanted(t *testing.T) {
	t.Parallel()
	for _, key := range [][]byte{testKey, {}} {
		victim := rootFs(t)
		plant(t, victim, "a=1")
		attacker := rootFs(t)
		tr, dir := interrupted(t, attacker, "apply")
		_ = tr
		if len(key) == 0 {
			data, err := afero.ReadFile(attacker, dir+"/plan")
			if err != nil {
				t.Fatal(err)
			}
			p, err := journal.Decode(data, testKey)
			if err != nil {
				t.Fatal(err)
			}
			if data, err = journal.Encode(p, nil); err == nil {
				err = afero.WriteFile(attacker, dir+"/plan", data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		copyTree(t, attacker, victim, stateDir)
		before := everything(t, victim)
		o := options(victim)
		o.Key = key
		_, err := commit.Recover(bg, o)
		if !errors.Is(err, &journal.Error{Reason: journal.BadIdentity}) || !errors.Is(err, commit.ErrRecoveryRequired) {
			t.Errorf("error is %v", err)
		}
		if !maps.Equal(before, everything(t, victim)) {
			t.Error("something was touched")
		}
	}
}
