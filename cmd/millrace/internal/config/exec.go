package config

import (
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/millrace-go/millrace/command"
)

// exec reads the keys below exec.
func (d *decoder) exec(n *yaml.Node, e *Exec) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, `write {allow: ["gofmt -w *"]}`, "this must be a list of `key: value`")
		return
	}
	d.mapping(n, func(name string, key, value *yaml.Node) {
		switch name {
		case "allow":
			e.Allow = d.texts(value)
			if err := (command.Policy{Allow: e.Allow}).Valid(); err != nil {
				d.fail(value, "", "%v", err)
			}
		case "read":
			e.Read = d.places(value)
		case "write":
			e.Write = d.places(value)
		case "env":
			e.Env = d.texts(value)
			if err := (command.Policy{PassEnv: e.Env}).Valid(); err != nil {
				d.fail(value, "", "%v", err)
			}
		case "network":
			e.Network = d.word(value, "true", "false") == "true"
		case "sandbox":
			e.Sandbox = d.word(value, "required", "best-effort", "off")
		case "toolchains":
			e.NoToolchains = d.word(value, "auto", "none") == "none"
		default:
			d.fail(key, "there are allow, read, write, env, network, sandbox, toolchains", "unknown key %q of exec", name)
		}
	})
}

// places returns a list of paths outside of the tree: absolute ones, or such that begin with ~/.
func (d *decoder) places(n *yaml.Node) []string {
	list := d.texts(n)
	for _, name := range list {
		if !filepath.IsAbs(name) && !strings.HasPrefix(name, "~/") {
			d.fail(n, "write an absolute path, or ~/x", "the path %q counts from nowhere", name)
		}
	}
	return list
}
