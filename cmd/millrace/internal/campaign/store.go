package campaign

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/registry"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fleet/gittrees"
	"github.com/millrace-go/millrace/fsutil"
)

// campaign is the content of the file campaign.json: the task, and its trees.
type campaign struct {
	ID       string          `json:"id"`
	Created  time.Time       `json:"created"`
	User     string          `json:"user,omitempty"`
	File     string          `json:"file"`
	Pipeline json.RawMessage `json:"pipeline"`
	Targets  []fleet.Target  `json:"targets"`
	// Git has the settings of trees that are repositories, nil for directories.
	Git *gittrees.Trees `json:"git,omitempty"`
	// Planned means that only a dry run was made.
	Planned bool `json:"planned,omitempty"`
}

// record is a line of the file outcomes.jsonl. The last record of a target is valid.
type record struct {
	Phase   string        `json:"phase"`
	Outcome fleet.Outcome `json:"outcome"`
}

// The phases of a record.
const (
	phasePlan = "plan"
	phaseRun  = "run"
	phaseUndo = "undo"
)

// The files and directories of a campaign.
const (
	campaignFile = "campaign.json"
	outcomesFile = "outcomes.jsonl"
	diffsDir     = "diffs"
	lockFile     = "lock"
)

// mostCampaign limits the size of a file of a campaign, in bytes.
const mostCampaign = 1 << 30

// isID reports whether a text can be the id of a campaign: 1 to 100 English letters, digits, - and _.
func isID(id string) bool {
	return id != "" && len(id) <= 100 && !strings.ContainsFunc(id, notInID)
}

// isNewest reports whether an argument means the newest campaign.
func isNewest(arg string) bool { return arg == "-" || arg == "last" }

// shelf returns the directory that contains a directory for each campaign of the user.
func shelf(p door.Program) (string, error) {
	dir := p.StateDir()
	if dir == "" {
		return "", errors.New("the system has no directory for the state of the user: set XDG_STATE_HOME")
	}
	return filepath.Join(dir, "fleet"), nil
}

// opened is a campaign with an open directory.
type opened struct {
	campaign
	dir      string
	root     *fsutil.RootFs
	lock     io.Closer
	pipeline millrace.Pipeline
	last     map[int]record // by the index of the target
	shown    *shown         // nil if the user is not asked
}

// create makes the directory of a new campaign, or uses the directory of a campaign that was only planned.
func create(p door.Program, c campaign) (*opened, error) {
	shelf, err := shelf(p)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(shelf, c.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	o := &opened{campaign: c, dir: dir, last: make(map[int]record)}
	if err := o.claim(p); err != nil {
		return nil, err
	}
	var before campaign
	switch err := readJSON(filepath.Join(dir, campaignFile), &before); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, errors.Join(err, o.close())
	case !before.Planned:
		return nil, errors.Join(
			p.Usage(fmt.Errorf("there is a campaign %[1]s: millrace fleet retry %[1]s goes on with it, and "+
				"--name gives a new campaign another name", c.ID)), o.close())
	}
	if err := os.Remove(filepath.Join(dir, outcomesFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, o.close())
	}
	diffs := filepath.Join(dir, diffsDir)
	if err = errors.Join(os.RemoveAll(diffs), os.Mkdir(diffs, 0o700)); err == nil {
		o.pipeline, err = registry.Decoder().Decode(c.Pipeline)
	}
	if err == nil {
		err = o.save()
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

// claim locks the campaign against other processes.
func (o *opened) claim(p door.Program) (err error) {
	if o.root, err = fsutil.OpenRoot(o.dir); err != nil {
		return err
	}
	f, err := o.root.OpenFile(lockFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		o.lock, err = o.root.TryLockFile(lockFile)
	}
	if errors.Is(err, fsutil.ErrLocked) {
		err = fmt.Errorf("another process works on campaign %s: %w", o.ID, err)
	}
	if err != nil {
		return errors.Join(err, o.close())
	}
	return nil
}

func (o *opened) close() error {
	var errs []error
	if o.lock != nil {
		errs = append(errs, o.lock.Close())
	}
	return errors.Join(append(errs, o.root.Close())...)
}

// save writes campaign.json atomically.
func (o *opened) save() error {
	data, err := json.Marshal(o.campaign)
	if err != nil {
		return err
	}
	part := filepath.Join(o.dir, campaignFile+".part")
	if err := os.WriteFile(part, append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(part, filepath.Join(o.dir, campaignFile))
}

// add appends a record. It ends an incomplete line of a killed process first, so that only this line is lost.
func (o *opened) add(r record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(o.dir, outcomesFile), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if last := []byte{'\n'}; err == nil && info.Size() > 0 {
		if _, err = f.ReadAt(last, info.Size()-1); last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	o.last[r.Outcome.Index] = r
	return errors.Join(err, f.Close())
}

// load opens the campaign of an argument: an id, or - or last for the newest. A campaign that is only shown is not
// locked.
func load(p door.Program, arg string, work bool) (*opened, error) {
	shelf, err := shelf(p)
	if err != nil {
		return nil, err
	}
	if isNewest(arg) {
		all, err := campaigns(p)
		if err != nil {
			return nil, err
		}
		if len(all) == 0 {
			return nil, p.Usage(errors.New("no campaign was run yet"))
		}
		arg = all[0].ID
	}
	absent := p.Usage(fmt.Errorf("campaign %q was not found: millrace fleet lists the campaigns", arg))
	if !isID(arg) {
		return nil, absent
	}
	o := &opened{dir: filepath.Join(shelf, arg), last: make(map[int]record)}
	switch err := readJSON(filepath.Join(o.dir, campaignFile), &o.campaign); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, absent
	case err != nil:
		return nil, err
	case o.ID != arg:
		return nil, fmt.Errorf("the file %s is of another campaign", filepath.Join(o.dir, campaignFile))
	}
	if work {
		err = o.claim(p)
	} else {
		o.root, err = fsutil.OpenRoot(o.dir)
	}
	if err != nil {
		return nil, err
	}
	if o.pipeline, err = registry.Decoder().Decode(o.Pipeline); err == nil {
		err = o.read()
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

// read reads the outcomes. It skips an incomplete last line of a killed process.
func (o *opened) read() error {
	f, err := os.Open(filepath.Join(o.dir, outcomesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(io.LimitReader(f, mostCampaign))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err == nil && r.Outcome.Index >= 0 &&
			r.Outcome.Index < len(o.Targets) {
			o.last[r.Outcome.Index] = r
		}
	}
	return errors.Join(lines.Err(), f.Close())
}

// campaigns returns all campaigns, newest first. A directory without a readable campaign is skipped.
func campaigns(p door.Program) ([]campaign, error) {
	shelf, err := shelf(p)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(shelf)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []campaign
	for _, e := range entries {
		var c campaign
		if readJSON(filepath.Join(shelf, e.Name(), campaignFile), &c) == nil && c.ID == e.Name() {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b campaign) int { return b.Created.Compare(a.Created) })
	return all, nil
}

// readJSON reads a file of a campaign.
func readJSON(name string, v any) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > mostCampaign {
		return fmt.Errorf("%s is not the file of a campaign", name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// outcomes returns the last outcomes of all targets, in their order. A target without an outcome was not begun.
func (o *opened) outcomes() []record {
	all := make([]record, len(o.Targets))
	for i, t := range o.Targets {
		r, ok := o.last[i]
		if !ok {
			r = record{Phase: phaseRun,
				Outcome: fleet.Outcome{Status: fleet.Skipped, Code: fleet.CodeStopped, Message: "not begun"}}
		}
		r.Outcome.Target, r.Outcome.Index = t, i
		all[i] = r
	}
	return all
}

// left returns the indices of the targets that retry continues with.
func (o *opened) left() []int {
	var left []int
	for i, r := range o.outcomes() {
		if r.Phase == phaseUndo && r.Outcome.Status == fleet.Success {
			continue
		}
		if r.Phase == phaseRun &&
			(r.Outcome.Status == fleet.Success || r.Outcome.Status == fleet.Skipped && r.Outcome.Code == "") {
			continue
		}
		left = append(left, i)
	}
	return left
}
