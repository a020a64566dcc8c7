package config

import (
	"errors"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/millrace-go/millrace/risk"
)

// Key is a key of the files.
type Key struct {
	// Name is the key as written, Doc its meaning in one line, Example an example of a value.
	Name, Doc, Example string
	// Project means that it is also allowed in a project's file.
	Project bool

	set func(d *decoder, n *yaml.Node, c *Config, l *Limits)
}

// Keys returns all keys, in the order of the help.
func Keys() []Key { return slices.Clone(keys) }

// names returns the keys allowed in a file.
func names(project bool) []string {
	var list []string
	for _, k := range keys {
		if k.Project || !project {
			list = append(list, k.Name)
		}
	}
	return list
}

var keys = []Key{
	{"pager", "pager for long diffs; empty for none", "less -FRX", false,
		func(d *decoder, n *yaml.Node, c *Config, _ *Limits) { c.Pager, c.PagerSet = d.text(n) }},
	{"editor", "editor for lines in a review", "vim", false,
		func(d *decoder, n *yaml.Node, c *Config, _ *Limits) { c.Editor, _ = d.text(n) }},
	{"color", "colours on a terminal: auto, always, never", "auto", false,
		func(d *decoder, n *yaml.Node, c *Config, _ *Limits) { c.Color = d.word(n, "auto", "always", "never") }},
	{"confirm", "the lowest risk that is asked about at a terminal; undo and redo always ask", "low", false,
		func(d *decoder, n *yaml.Node, c *Config, _ *Limits) { c.Confirm = d.level(n) }},
	{"backups", "limits of the kept backups: keep, max_age, max_bytes", "{keep: 20, max_age: 30d}", false,
		func(d *decoder, n *yaml.Node, c *Config, _ *Limits) { d.backups(n, c) }},
	{"exec", "programs that pipelines in files may run, and their permissions: allow, read, write, env, network, sandbox, toolchains",
		`{allow: ["gofmt -w *"], sandbox: required}`, false,
		func(d *decoder, n *yaml.Node, c *Config, _ *Limits) { d.exec(n, &c.Exec) }},
	{"agents", "programs that prompts ask, by name, default for prompts without a name: command, format, read, write, env, timeout",
		`{default: {command: [claude, -p], env: [HOME]}}`, false,
		func(d *decoder, n *yaml.Node, c *Config, _ *Limits) { c.Agents = d.agents(n) }},
	{"runs", "keep every run in a directory of its tree below store, see `millrace runs`", "{store: ~/.local/state/millrace/runs}", false,
		func(d *decoder, n *yaml.Node, c *Config, _ *Limits) { d.runs(n, c) }},
	{"ceiling", "the highest risk that may be committed, also with --force", "high", true,
		func(d *decoder, n *yaml.Node, _ *Config, l *Limits) { l.Ceiling = d.level(n) }},
	{"risk", "thresholds of the levels of risk: medium, high, critical, each with files or edits", "{high: {files: 200, edits: 5000}}", false,
		func(d *decoder, n *yaml.Node, c *Config, _ *Limits) { d.risk(n, c) }},
	{"max_files", "limit of changed files without --force", "100", true,
		func(d *decoder, n *yaml.Node, _ *Config, l *Limits) { l.MaxFiles = int(d.number(n, math.MaxInt32)) }},
	{"allow", "files and directories that may be read and changed; nothing else", "[src, docs]", true,
		func(d *decoder, n *yaml.Node, _ *Config, l *Limits) { l.Allow = d.paths(n) }},
	{"deny", "globs of paths that are neither read nor changed", `[.env, "secrets/**"]`, true,
		func(d *decoder, n *yaml.Node, _ *Config, l *Limits) { l.Deny = d.texts(n) }},
	{"read_only", "globs of paths that are not changed", "[go.sum, .github]", true,
		func(d *decoder, n *yaml.Node, _ *Config, l *Limits) { l.ReadOnly = d.texts(n) }},
}

// text returns a text; ok is false for any other value.
func (d *decoder) text(n *yaml.Node) (text string, ok bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		d.fail(n, "write it in quotes", "this must be a text")
		return "", false
	}
	if strings.ContainsAny(n.Value, "\x00\n\r") {
		d.fail(n, "", "this must be one line")
		return "", false
	}
	return n.Value, true
}

// word returns one of the given words.
func (d *decoder) word(n *yaml.Node, words ...string) string {
	if n.Kind != yaml.ScalarNode || !slices.Contains(words, n.Value) {
		d.fail(n, meant(n.Value, words), "this must be one of %s", strings.Join(words, ", "))
		return ""
	}
	return n.Value
}

// level returns a level of risk.
func (d *decoder) level(n *yaml.Node) risk.Level {
	level, err := risk.Parse(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || level == risk.Unset {
		words := []string{"low", "medium", "high", "critical"}
		d.fail(n, meant(n.Value, words), "this must be one of %s", strings.Join(words, ", "))
		return risk.Unset
	}
	return level
}

// number returns a number from 1 to most.
func (d *decoder) number(n *yaml.Node, most int64) int64 {
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil || v < 1 || v > most || n.Value[0] == '+' ||
		n.Value[0] == '0' {
		d.fail(n, "", "this must be a number from 1 to %d", most)
		return 0
	}
	return v
}

// texts returns a list of texts that are not empty. An empty list is refused, because it could seem to forbid
// everything or nothing.
func (d *decoder) texts(n *yaml.Node) []string {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		d.fail(n, "write [first, second]", "this must be a list of at least one text")
		return nil
	}
	var list []string
	for _, e := range n.Content {
		text, ok := d.text(e)
		switch {
		case ok && text == "":
			d.fail(e, "", "this text is empty")
		case ok:
			list = append(list, text)
		}
	}
	return list
}

var errOutside = errors.New("it leads out of the tree")

// clean returns a path relative to the root.
func clean(name string) (string, error) {
	if p := path.Clean(strings.TrimSuffix(name, "/")); !path.IsAbs(name) && p != ".." && !strings.HasPrefix(p, "../") {
		return p, nil
	}
	return "", errOutside
}

// paths returns a list of paths below the root.
func (d *decoder) paths(n *yaml.Node) []string {
	list := d.texts(n)
	for i, name := range list {
		p, err := clean(name)
		if err != nil {
			d.fail(n, "write a path that counts from the root", "the path %q: %v", name, err)
			continue
		}
		list[i] = p
	}
	return list
}

// backups reads the keys below backups.
func (d *decoder) backups(n *yaml.Node, c *Config) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, "write {keep: 20}", "this must be a list of `key: value`")
		return
	}
	d.mapping(n, func(name string, key, value *yaml.Node) {
		switch name {
		case "keep":
			c.Backups.Keep = int(d.number(value, math.MaxInt32))
		case "max_bytes":
			c.Backups.MaxBytes = d.number(value, math.MaxInt64)
		case "max_age":
			age, ok := ParseAge(value.Value)
			if !ok || value.Kind != yaml.ScalarNode {
				d.fail(value, "write 30d, 12h or 90m", "this must be how old a backup may be")
			}
			c.Backups.MaxAge = age
		default:
			d.unknown(key, name, []string{"keep", "max_age", "max_bytes"}, "unknown key %q of backups", name)
		}
	})
}

// runs reads the keys below runs.
func (d *decoder) runs(n *yaml.Node, c *Config) {
	const hint = "write {store: ~/.local/state/millrace/runs}"
	if n.Kind != yaml.MappingNode {
		d.fail(n, hint, "this must be a list of `key: value`")
		return
	}
	d.mapping(n, func(name string, key, value *yaml.Node) {
		if name != "store" {
			d.fail(key, "the only key is store", "unknown key %q of runs", name)
			return
		}
		text, ok := d.text(value)
		if ok && !filepath.IsAbs(text) && !strings.HasPrefix(text, "~/") {
			d.fail(value, hint, "this must be an absolute path, or begin with ~/")
		}
		c.RunsStore = text
	})
}

// risk reads the thresholds of the levels of risk. Missing levels keep their defaults.
func (d *decoder) risk(n *yaml.Node, c *Config) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, "write {high: {files: 200}}", "this must be a list of `key: value`")
		return
	}
	levels := map[string]*risk.Threshold{"medium": &c.Risk.Medium, "high": &c.Risk.High, "critical": &c.Risk.Critical}
	d.mapping(n, func(name string, key, value *yaml.Node) {
		level := levels[name]
		switch {
		case level == nil:
			d.unknown(key, name, []string{"medium", "high", "critical"}, "unknown level %q of risk", name)
			return
		case value.Kind != yaml.MappingNode:
			d.fail(value, "write {files: 200, edits: 5000}", "this must be a list of `key: value`")
			return
		}
		d.mapping(value, func(measure string, key, value *yaml.Node) {
			switch measure {
			case "files":
				level.Files = int(d.number(value, math.MaxInt32))
			case "edits":
				level.Edits = int(d.number(value, math.MaxInt32))
			default:
				d.unknown(key, measure, []string{"files", "edits"}, "unknown measure %q of a level", measure)
			}
		})
	})
}

// ParseAge reads a maximum age: a number of days as in 30d, or a duration for [time.ParseDuration], more than zero.
func ParseAge(text string) (time.Duration, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		return time.Duration(n) * 24 * time.Hour, err == nil && n > 0 && n <= 100*365
	}
	age, err := time.ParseDuration(text)
	return age, err == nil && age > 0
}
