package schedule_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/schedule"
	"github.com/millrace-go/millrace/internal/stage"
)

func reader(paths ...string) schedule.Step {
	return schedule.Step{ReadOnly: true, Reads: paths, Known: true}
}
func writer(paths ...string) schedule.Step { return schedule.Step{Writes: paths, Known: true} }

func after(s schedule.Step, steps ...int) schedule.Step {
	s.After = steps
	return s
}

func outside(s schedule.Step) schedule.Step {
	s.Outside = true
	return s
}

func exclusive(s schedule.Step) schedule.Step {
	s.Exclusive = true
	return s
}

func links(s schedule.Step) schedule.Step {
	s.Links = true
	return s
}

func TestWaves(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		steps []schedule.Step
		want  [][]int
	}{
		{"readers", []schedule.Step{reader("a"), reader("a"), {ReadOnly: true}}, [][]int{{0, 1, 2}}},
		{"writers apart", []schedule.Step{writer("a"), writer("b"), reader("c")}, [][]int{{2}, {0}, {1}}},
		{"a reader of written files", []schedule.Step{writer("a"), reader("a/b"), reader("ab")}, [][]int{{2}, {0}, {1}}},
		{"a writer of read files", []schedule.Step{reader("."), writer("a")}, [][]int{{0}, {1}}},
		{"a writer of anything", []schedule.Step{reader("a"), {}, reader("b")}, [][]int{{0}, {1}, {2}}},
		{"two names of one file", []schedule.Step{writer("a/../b"), reader("./b")}, [][]int{{0}, {1}}},
		{"below a written path", []schedule.Step{writer("a"), writer("a/b"), writer("c")}, [][]int{{0}, {2}, {1}}},
		{"below a possible link", []schedule.Step{links(writer("a")), writer("a/b"), writer("c")},
			[][]int{{0}, {1}, {2}}},
		{"next to a possible link", []schedule.Step{links(writer("a")), writer("b"), reader("c")}, [][]int{{2}, {0}, {1}}},
		{"after a step that may link anywhere",
			[]schedule.Step{links(schedule.Step{}), reader(), after(writer("b"), 1), writer("c")},
			[][]int{{0}, {1}, {2}, {3}}},
		{"a name that is not valid", []schedule.Step{writer("a"), reader("../b")}, [][]int{{0}, {1}}},
		{"named", []schedule.Step{reader("a"), after(reader("b"), 0), after(reader("c"), 0), after(writer("d"), 1)}, [][]int{{0}, {1, 2}, {3}}},
		{"outside", []schedule.Step{reader("a"), writer("b"), outside(reader()), reader("c"), outside(reader()), outside(writer("d"))},
			[][]int{{0}, {1}, {2}, {3}, {4}, {5}}},
		{"exclusive", []schedule.Step{reader("a"), exclusive(reader("b")), reader("c"), exclusive(writer("d"))}, [][]int{{0, 2}, {1}, {3}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tree := stage.New(afero.NewMemMapFs())
			t.Cleanup(func() { tree.Close() })
			if diff := cmp.Diff(test.want, schedule.Waves(t.Context(), test.steps, tree)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
