package rundir

import (
	"context"
	"testing"

	"github.com/millrace-go/millrace/runs"
)

// Answers returns the answers to the steps of a run, as far as they are on record.
func (s *Store) Answers(number int64) (outputs []string, err error) {
	l, err := s.load(number)
	if err != nil {
		return nil, err
	}
	data := &lazyData{layout: s.layout, number: number}
	defer data.Close()
	for _, v := range l.answers {
		var a struct{ Output string }
		if err := v.decode(data, &a); err != nil {
			return nil, err
		}
		outputs = append(outputs, a.Output)
	}
	return outputs, nil
}

// CreateOnly creates a run and does not work on it.
func (m *Manager) CreateOnly(ctx context.Context, c runs.CreateParams) (runs.Run, error) {
	n, _, err := m.describe(ctx, c)
	if err != nil {
		return runs.Run{}, err
	}
	w, err := m.store.create(ctx, n)
	if err != nil {
		return runs.Run{}, err
	}
	return m.shown(w), w.close()
}

// IsLeft reports whether no process works on a run, and that is not recorded.
func (m *Manager) IsLeft(t testing.TB, ref runs.RunRef) bool {
	t.Helper()
	l, err := m.store.find(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return m.session(l.number) == nil && (l.dead || l.status == runs.Created)
}
