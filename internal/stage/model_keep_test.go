//go:build linux

package stage_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestStageKept is TestStageLikeOS with a stage that a Keeper follows, and that is often closed and restored.
func TestStageKept(t *testing.T) {
	t.Parallel()
	first, n := fstest.Seed(t), fstest.Slowed(30, fstest.Runs(fstest.ByItself(50, 100), 400, 10_000))
	done := 0
	for i := range n {
		t.Run(fmt.Sprint(first+uint64(i)), func(t *testing.T) {
			random := rand.NewChaCha8([32]byte(binary.LittleEndian.AppendUint64(make([]byte, 24), first+uint64(i))))
			data := make([]byte, 1<<16)
			_, _ = random.Read(data) // never fails
			rapid.MakeFuzz(func(rt *rapid.T) { runModel(t, rt, true) })(t, data)
			done++
		})
	}
	if done < n*9/10 {
		t.Errorf("%d of %d histories came to their end", done, n)
	}
	fstest.Countf(t, "%d histories", done)
}

// keep takes a delta, which is also a savepoint. After a rollback it follows one of the remaining deltas, which may be
// a delta taken after the savepoint if nothing had changed in between.
func (m *model) keep() {
	data, depth, err := m.keeper.Delta()
	m.check(err)
	if least := m.depth(); depth < least || depth > len(m.deltas) {
		m.Fatalf("the next of %d deltas, of which %d count, follows %d", len(m.deltas), least, depth)
	}
	m.deltas = append(m.deltas[:depth:depth], data)
	m.saves = append(m.saves, modelSave{point: m.keeper.Savepoint(depth + 1), tree: treeOf(m.T, m.stage),
		depth: depth + 1})
}

// depth returns the minimum number of deltas that lead to the current state.
func (m *model) depth() int {
	for _, save := range slices.Backward(m.saves) {
		if save.depth > 0 {
			return save.depth
		}
	}
	return 0
}

// resume restores the stage as of the last delta, and continues with the new stage.
func (m *model) resume() {
	m.closeAll()
	m.keep()
	next := m.newStage()
	keeper, err := stage.Restore(context.Background(), next, m.deltas)
	m.check(err)
	if keeper.Depth() != len(m.deltas) {
		m.Fatalf("%d deltas lead to depth %d", len(m.deltas), keeper.Depth())
	}
	m.saves = slices.DeleteFunc(m.saves, func(save modelSave) bool { return save.depth == 0 })
	if diff := cmp.Diff(treeOf(m.T, m.stage), treeOf(m.T, next)); diff != "" {
		m.Fatalf("the tree differs (-kept +built again):\n%s", diff)
	}
	if diff := cmp.Diff(toldBy(m, m.stage), toldBy(m, next)); diff != "" {
		m.Fatalf("the changes differ (-kept +built again):\n%s", diff)
	}
	for name := range treeOf(m.T, next) {
		was, errWas := m.stage.Version(name)
		is, err := next.Version(name)
		if m.check(errors.Join(errWas, err)); was != is {
			m.Fatalf("%s has another version", name)
		}
	}
	for i := range m.saves {
		was := m.stage.ChangedSince(m.saves[i].point)
		m.saves[i].point = keeper.Savepoint(m.saves[i].depth)
		if diff := cmp.Diff(was, next.ChangedSince(m.saves[i].point)); diff != "" {
			m.Fatalf("what has changed since %d differs (-kept +built again):\n%s", i, diff)
		}
	}
	m.check(m.stage.Close())
	m.stage, m.keeper = next, keeper
}

// newStage returns a stage with a spill that outlives it.
func (m *model) newStage() *stage.Stage {
	s := stage.New(afero.NewBasePathFs(afero.NewOsFs(), m.base))
	s.SetSpill(m.spill)
	return s
}

// toldBy returns everything that the stage reports.
func toldBy(m *model, s *stage.Stage) string {
	changes, err := s.Changes()
	m.check(err)
	data, err := json.MarshalIndent(changes, "", " ")
	m.check(err)
	return string(data) + trashOf(changes)
}

// restart returns the stage to a savepoint of the Keeper.
func (m *model) restart() {
	var kept []int
	for i, save := range m.saves {
		if save.depth > 0 {
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 {
		return
	}
	i := rapid.SampledFrom(kept).Draw(m.T, "delta")
	m.backTo(i, func() { m.stage.Rollback(m.keeper.Savepoint(m.saves[i].depth)) })
}

// backTo resets the model to a savepoint; do resets the stage.
func (m *model) backTo(i int, do func()) {
	m.closeAll()
	save := m.saves[i]
	m.saves = m.saves[:i+1]
	do()
	m.resetDir()
	for _, name := range slices.Sorted(maps.Keys(save.tree)) {
		plantLine(m.T, m.dir, name, save.tree[name])
	}
}
