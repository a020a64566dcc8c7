package millrace_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/bulkhead"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/tool"
	"github.com/millrace-go/millrace/wording"
)

// Effects of a verb on a tree: it writes, it only reads, or it refuses, with an error and nothing written.
const (
	writes  = "writes"
	reads   = "reads"
	refuses = "refuses"
)

// verb is a use of an Executor.
type verb struct {
	method string // of Executor; a method may have several verbs
	does   string // with the zero Executor
	do     func(t *testing.T, x millrace.Executor) (afero.Fs, func() error)
}

// verbs are all verbs. A new method of Executor needs an entry, in harmless if it can never write.
var (
	verbs = map[string]verb{
		"Run": {"Run", writes, onFresh(func(t *testing.T, x millrace.Executor, fsys afero.Fs) error {
			_, err := x.Run(t.Context(), fsys, setting())
			return err
		})},
		"Plan": {"Plan", reads, onFresh(func(t *testing.T, x millrace.Executor, fsys afero.Fs) error {
			_, err := x.Plan(t.Context(), fsys, setting())
			return err
		})},
		"Resume": {"Resume", writes, onFresh(func(t *testing.T, x millrace.Executor, fsys afero.Fs) error {
			_, err := x.Resume(t.Context(), fsys, setting(), millrace.Saved{})
			return err
		})},
		"Plan, Commit": {"Plan", writes, onFresh(planAndCommit)},
		"OpenPlan":     {"OpenPlan", reads, onFresh(func(t *testing.T, x millrace.Executor, fsys afero.Fs) error { _, err := open(t, x, fsys); return err })},
		"OpenPlan, Commit": {"OpenPlan", writes, onFresh(func(t *testing.T, x millrace.Executor, fsys afero.Fs) error {
			plan, err := open(t, x, fsys)
			if err == nil {
				_, err = plan.Commit(t.Context())
			}
			return err
		})},
		"Restore": {"Restore", writes, onCommitted(func(t *testing.T, x millrace.Executor, fsys afero.Fs, id string) error {
			_, err := x.Restore(t.Context(), fsys, id)
			return err
		})},
		"PlanRestore": {"PlanRestore", reads, onCommitted(func(t *testing.T, x millrace.Executor, fsys afero.Fs, id string) error {
			_, err := x.PlanRestore(t.Context(), fsys, id)
			return err
		})},
		"PlanRestore, Commit": {"PlanRestore", writes, onCommitted(func(t *testing.T, x millrace.Executor, fsys afero.Fs, id string) error {
			plan, err := x.PlanRestore(t.Context(), fsys, id)
			if err == nil {
				_, err = plan.Commit(t.Context())
			}
			return err
		})},
		"VerifyBackup": {"VerifyBackup", reads, onCommitted(func(t *testing.T, x millrace.Executor, fsys afero.Fs, id string) error {
			return x.VerifyBackup(t.Context(), fsys, id)
		})},
		"PruneBackups": {"PruneBackups", writes, onCommitted(func(t *testing.T, x millrace.Executor, fsys afero.Fs, _ string) error {
			_, err := x.PruneBackups(t.Context(), fsys, backup.Retention{Keep: 1})
			return err
		})},
		"RemoveBackup": {"RemoveBackup", writes, onCommitted(func(t *testing.T, x millrace.Executor, fsys afero.Fs, id string) error {
			return x.RemoveBackup(t.Context(), fsys, id)
		})},
		"ListBackups": {"ListBackups", reads, onCommitted(func(t *testing.T, x millrace.Executor, fsys afero.Fs, _ string) error {
			_, err := x.ListBackups(t.Context(), fsys)
			return err
		})},
		"Inspect": {"Inspect", reads, onCrashed(func(t *testing.T, x millrace.Executor, fsys afero.Fs, _ string) error {
			_, err := x.Inspect(t.Context(), fsys)
			return err
		})},
		"Recover": {"Recover", writes, onCrashed(func(t *testing.T, x millrace.Executor, fsys afero.Fs, _ string) error {
			_, err := x.Recover(t.Context(), fsys)
			return err
		})},
		"TrustLeftover": {"TrustLeftover", writes, onCrashed(func(t *testing.T, x millrace.Executor, fsys afero.Fs, id string) error {
			_, err := x.TrustLeftover(t.Context(), fsys, id)
			return err
		})},
		"DiscardLeftover": {"DiscardLeftover", writes, onCrashed(func(t *testing.T, x millrace.Executor, fsys afero.Fs, id string) error {
			return x.DiscardLeftover(t.Context(), fsys, id)
		})},
	}
	harmless = []string{}
)

// setting is a pipeline that exceeds each limit: it makes 150 edits in two files, one with a name that Windows does not
// have, it has a step that finds nothing, and a step that shows something.
func setting() millrace.Pipeline {
	return millrace.New("change").
		Step("e", actions.Edit{Files: []string{"a.txt", "con.txt"}, OldText: "xx", NewText: "yy"}).
		Step("none", actions.Edit{Files: []string{"b.txt"}, OldText: "xx", NewText: "yy"}).
		Step("show", actions.ReadRanges{Files: []string{"b.txt"}}).MustBuild()
}

func freshTree() afero.Fs {
	return suite.Tree("a.txt", strings.Repeat("xx\n", 149), "b.txt", "b\n", "con.txt", "xx\n")
}

func onFresh(do func(*testing.T, millrace.Executor, afero.Fs) error) func(*testing.T, millrace.Executor) (afero.Fs, func() error) {
	return func(t *testing.T, x millrace.Executor) (afero.Fs, func() error) {
		fsys := freshTree()
		return fsys, func() error { return do(t, x, fsys) }
	}
}

func planAndCommit(t *testing.T, x millrace.Executor, fsys afero.Fs) error {
	plan, err := x.Plan(t.Context(), fsys, setting())
	if err == nil {
		_, err = plan.Commit(t.Context())
	}
	return err
}

func open(t *testing.T, x millrace.Executor, fsys afero.Fs) (*millrace.Plan, error) {
	t.Helper()
	plan, err := millrace.Executor{}.Plan(t.Context(), fsys, setting())
	if err != nil {
		t.Fatal(err)
	}
	return x.OpenPlan(t.Context(), fsys, suite.Stored(t, plan))
}

// onCommitted is for verbs that need a backup; there is an older backup too.
func onCommitted(do func(*testing.T, millrace.Executor, afero.Fs, string) error) func(*testing.T, millrace.Executor) (afero.Fs, func() error) {
	return func(t *testing.T, x millrace.Executor) (afero.Fs, func() error) {
		fsys := freshTree()
		first := millrace.New("first").Step("c", actions.Create{Path: "c.txt", Content: "c\n"}).MustBuild()
		if _, err := millrace.Run(t.Context(), fsys, first); err != nil {
			t.Fatal(err)
		}
		res, err := millrace.Run(t.Context(), fsys, setting())
		if err != nil {
			t.Fatal(err)
		}
		return fsys, func() error { return do(t, x, fsys, res.BackupID) }
	}
}

// onCrashed is for verbs that need a transaction that a crash has left.
func onCrashed(do func(*testing.T, millrace.Executor, afero.Fs, string) error) func(*testing.T, millrace.Executor) (afero.Fs, func() error) {
	return func(t *testing.T, x millrace.Executor) (afero.Fs, func() error) {
		disk := errorfs.Wrap(afero.NewMemMapFs(), nil)
		suite.ThreeFiles(t, disk)
		if _, err := millrace.Run(t.Context(), suite.BreakAfter(disk, ""), suite.Edit("a.txt", "b.txt", "c.txt")); err == nil {
			t.Fatal("there was no crash")
		}
		left, err := millrace.Executor{}.Inspect(t.Context(), disk)
		if err != nil || len(left.Leftovers) != 1 {
			t.Fatalf("%+v, %v", left, err)
		}
		return disk, func() error { return do(t, x, disk, left.Leftovers[0].ID) }
	}
}

// field is the effect of a field of Executor on the verbs.
type field struct {
	set func(x *millrace.Executor)
	// does has the verbs that act differently than with the zero Executor.
	does map[string]string
	// refused reports whether the error is an error of this field.
	refused func(err error) bool
}

func all(does string, verbs ...string) map[string]string {
	m := make(map[string]string)
	for _, v := range verbs {
		m[v] = does
	}
	return m
}

func isError(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

var (
	planning   = []string{"Run", "Resume", "Plan", "Plan, Commit"}
	commits    = []string{"Run", "Resume", "Plan, Commit", "OpenPlan, Commit"}
	onPlans    = []string{"OpenPlan", "OpenPlan, Commit"}
	restoring  = []string{"Restore", "PlanRestore", "PlanRestore, Commit"}
	onPaths    = slices.Concat(planning, onPlans, restoring)
	onCrash    = []string{"Recover", "TrustLeftover", "DiscardLeftover"}
	onBackups  = []string{"Restore", "PlanRestore, Commit", "PruneBackups", "RemoveBackup"}
	never      = func(error) bool { return false }
	isLimit    = suite.Is[*actions.LimitError]
	nothing    = map[string]string{}
	isNotThere = func(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, backup.ErrNotFound) }
)

// fields has a row for each field of Executor. A new field needs a row with its effect on each verb.
var fields = map[string]field{
	"DryRun":                 {func(x *millrace.Executor) { x.DryRun = true }, merged(all(reads, slices.Concat(commits, onBackups)...), all(refuses, onCrash...)), isError(millrace.ErrReadOnly)},
	"ReadOnly":               {func(x *millrace.Executor) { x.ReadOnly = true }, all(refuses, slices.Concat(commits, onCrash, onBackups)...), isError(millrace.ErrReadOnly)},
	"Ceiling":                {func(x *millrace.Executor) { x.Ceiling = risk.Low }, all(refuses, commits...), suite.Is[*millrace.BlockedError]},
	"Risk":                   {func(x *millrace.Executor) { x.Risk.High.Edits = 150 }, all(refuses, commits...), suite.Is[*millrace.BlockedError]},
	"MaxFiles":               {func(x *millrace.Executor) { x.MaxFiles = 1 }, all(refuses, commits...), suite.Is[*millrace.BlockedError]},
	"Limits.MaxFileBytes":    {func(x *millrace.Executor) { x.Limits.MaxFileBytes = 1 }, all(refuses, slices.Concat(planning, onPlans)...), isLimit},
	"Limits.MaxMatches":      {func(x *millrace.Executor) { x.Limits.MaxMatches = 148 }, all(refuses, planning...), isLimit},
	"Limits.MaxOutputBytes":  {func(x *millrace.Executor) { x.Limits.MaxOutputBytes = 1 }, all(refuses, planning...), isLimit},
	"Limits.MaxShownBytes":   {func(x *millrace.Executor) { x.Limits.MaxShownBytes = 1 }, all(refuses, planning...), isLimit},
	"Limits.MaxStagedBytes":  {func(x *millrace.Executor) { x.Limits.MaxStagedBytes = 1 }, all(refuses, planning...), isLimit},
	"Limits.MaxPatternBytes": {func(x *millrace.Executor) { x.Limits.MaxPatternBytes = 1 }, all(refuses, planning...), isLimit},
	"MaxJSONDepth":           {func(x *millrace.Executor) { x.MaxJSONDepth = 1 }, all(refuses, onPlans...), suite.Is[*millrace.PlanError]},
	"MaxPlanBytes":           {func(x *millrace.Executor) { x.MaxPlanBytes = 1 }, all(refuses, onPlans...), suite.Is[*millrace.PlanError]},
	"Budget":                 {func(x *millrace.Executor) { x.Budget.Edits = 149 }, all(refuses, append(planning, "OpenPlan, Commit")...), suite.Is[*millrace.BudgetError]},
	"Workers":                {func(x *millrace.Executor) { x.Workers = 1 }, nothing, never},
	"AllowedPaths":           {func(x *millrace.Executor) { x.AllowedPaths = []string{"b.txt"} }, all(refuses, onPaths...), isError(fsutil.ErrNotAllowed)},
	"DeniedPaths":            {func(x *millrace.Executor) { x.DeniedPaths = []string{"con.*"} }, all(refuses, onPaths...), isError(fsutil.ErrDenied)},
	"ReadOnlyPaths":          {func(x *millrace.Executor) { x.ReadOnlyPaths = []string{"con.*"} }, all(refuses, onPaths...), isError(fsutil.ErrReadOnlyPath)},
	"RequireMatches":         {func(x *millrace.Executor) { x.RequireMatches = true }, all(refuses, planning...), suite.Is[*millrace.ExpectError]},
	"PortableNames":          {func(x *millrace.Executor) { x.PortableNames = true }, all(refuses, onPaths...), isError(fsutil.ErrNotPortable)},
	"State.Dir": {func(x *millrace.Executor) { x.State.Dir = "other" }, // which has no backup and no transaction
		merged(all(refuses, append(restoring, "VerifyBackup", "RemoveBackup", "TrustLeftover", "DiscardLeftover")...), all(reads, "Recover", "PruneBackups")), isNotThere},
	"RunID":           {func(x *millrace.Executor) { x.RunID = "one" }, nothing, never},
	"State.Key":       {func(x *millrace.Executor) { x.State.Key = make([]byte, 32) }, all(refuses, append(restoring, "VerifyBackup", "Recover")...), isUnsigned}, // unless the host vouches
	"State.Backups":   {func(x *millrace.Executor) { x.State.Backups = backup.Retention{Keep: 1} }, nothing, never},
	"State.Results":   {func(x *millrace.Executor) { x.State.Results = backup.Retention{Keep: 1} }, nothing, never},
	"State.Conflicts": {func(x *millrace.Executor) { x.State.Conflicts = backup.Retention{Keep: 1} }, nothing, never},
	"State.LockWait":  {func(x *millrace.Executor) { x.State.LockWait = time.Minute }, nothing, never},
	"InPlace":         {func(x *millrace.Executor) { x.InPlace = true }, nothing, never},        // nothing is mounted on a file here
	"ReplaceForeign":  {func(x *millrace.Executor) { x.ReplaceForeign = true }, nothing, never}, // no file here is another user's
	"State.NoSync":    {func(x *millrace.Executor) { x.State.NoSync = true }, nothing, never},
	"Agents": {func(x *millrace.Executor) {
		x.Agents = map[string]agent.Agent{"": agent.Func(func(context.Context, *agent.Request) (agent.Reply, error) { panic("no step asks") })}
	}, nothing, never},
	"Tools":     {func(x *millrace.Executor) { x.Tools = oneTool() }, nothing, never},
	"Bulkheads": {func(x *millrace.Executor) { x.Bulkheads = map[string]*bulkhead.Bulkhead{"tool": bulkhead.New(0, 0)} }, nothing, never},
	"Commands": {func(x *millrace.Executor) {
		x.Commands = command.Policy{Allow: []string{"never"}, Sandbox: command.Off}
	}, nothing, never},
	"Recorder":    {func(x *millrace.Executor) { x.Recorder = millrace.NewMemoryRecorder() }, nothing, never},
	"Checkpoints": {func(x *millrace.Executor) { x.Checkpoints = new(forgetful) }, nothing, never}, // see internal/suite/resume
	"Shared":      {func(x *millrace.Executor) { x.Shared = filepath.Join(os.TempDir(), "millrace-never-made") }, nothing, never},
	"Logger":      {func(x *millrace.Executor) { x.Logger = slog.New(slog.DiscardHandler) }, nothing, never},
	"Observe":     {func(x *millrace.Executor) { x.Observe = func(millrace.Event) {} }, nothing, never},
	"Words":       {func(x *millrace.Executor) { x.Words = wording.Part.String }, nothing, never},
	"StepContext": {func(x *millrace.Executor) {
		x.StepContext = func(ctx context.Context, _ millrace.StepStarted) context.Context { return ctx }
	}, nothing, never},
	"RunContext": {func(x *millrace.Executor) {
		x.RunContext = func(ctx context.Context, _ millrace.RunStarted) (context.Context, func(millrace.RunFinished)) {
			return ctx, nil
		}
	}, nothing, never},
}

// forgetful is a Checkpointer that keeps nothing.
type forgetful struct{ spilled []byte }

func (*forgetful) Enter(context.Context, millrace.Position) error  { return nil }
func (*forgetful) Keep(context.Context, millrace.Checkpoint) error { return nil }
func (f *forgetful) Spill() fsutil.Spill                           { return f }

func (f *forgetful) Append(p []byte) (int64, error) {
	f.spilled = append(f.spilled, p...)
	return int64(len(f.spilled) - len(p)), nil
}

func (f *forgetful) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(f.spilled).ReadAt(p, off)
}

// oneTool returns a set with a tool that setting does not use.
func oneTool() tool.Set {
	set, err := tool.New(tool.Func("never", "", func(context.Context, struct{}) (int, error) { panic("called") }))
	if err != nil {
		panic(err)
	}
	return set
}

// isUnsigned reports whether the error is about a wrong or missing signature.
func isUnsigned(err error) bool {
	return strings.Contains(err.Error(), "sign") || strings.Contains(err.Error(), "key") || strings.Contains(err.Error(), "this user")
}

func merged(a, b map[string]string) map[string]string {
	a = maps.Clone(a)
	maps.Copy(a, b)
	return a
}

// TestEveryFieldHoldsForEveryVerb checks each field of Executor against each verb: no verb may bypass what the host has
// forbidden.
func TestEveryFieldHoldsForEveryVerb(t *testing.T) {
	executor := reflect.TypeFor[millrace.Executor]()
	for _, name := range suite.ExecutorFields() {
		if fields[name].set == nil {
			t.Errorf("the field %s has no row here: what does it do to each verb?", name)
		}
	}
	for i := range executor.NumMethod() {
		name := executor.Method(i).Name
		isOf := func(v verb) bool { return v.method == name }
		if !slices.Contains(harmless, name) && !slices.ContainsFunc(slices.Collect(maps.Values(verbs)), isOf) {
			t.Errorf("the method %s has no verb here: what does each field do to it?", name)
		}
	}
	none := field{func(*millrace.Executor) {}, nothing, never}
	for name, f := range merged2(fields, "no field", none) {
		var x millrace.Executor
		f.set(&x)
		if name != "no field" && reflect.ValueOf(x).IsZero() {
			t.Errorf("%s is not set by its row", name)
		}
		for what, v := range verbs {
			t.Run(name+"/"+what, func(t *testing.T) {
				want := v.does
				if other, ok := f.does[what]; ok {
					want = other
				}
				fsys, do := v.do(t, x)
				before := everything(t, fsys)
				err := do()
				got := reads
				switch after := everything(t, fsys); {
				case !maps.Equal(before, after):
					got = writes
				case err != nil:
					got = refuses
				}
				if got != want || (err != nil) != (want == refuses) {
					t.Errorf("it %s, with error %v; want that it %s", got, err, want)
				}
				if err != nil && !f.refused(err) {
					t.Errorf("error %v is not that of the field", err)
				}
			})
		}
	}
}

func merged2(rows map[string]field, name string, row field) map[string]field {
	rows = maps.Clone(rows)
	rows[name] = row
	return rows
}

// everything returns the whole tree, with the state directory and with modes.
func everything(t *testing.T, fsys afero.Fs) map[string]string {
	t.Helper()
	found := make(map[string]string)
	raised, err := fsutil.Raise(fsys)
	if err != nil {
		t.Fatal(err)
	}
	err = afero.Walk(raised, ".", func(path string, info fs.FileInfo, err error) error {
		if err != nil || path == "." {
			return err
		}
		text := ""
		if info.Mode().IsRegular() {
			data, err := afero.ReadFile(raised, path)
			if err != nil {
				return err
			}
			text = string(data)
		}
		found[path] = info.Mode().String() + " " + text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
