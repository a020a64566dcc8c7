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
			all := []string{"allow", "read", "write", "env", "network", "sandbox", "toolchains"}
			d.unknown(key, name, all, "unknown key %q of exec", name)
		}
	})
}

// places returns a list of paths outside the tree, which are absolute or begin with ~/.
func (d *decoder) places(n *yaml.Node) []string {
	list := d.texts(n)
	for _, name := range list {
		if !filepath.IsAbs(name) && !strings.HasPrefix(name, "~/") {
			d.fail(n, "write an absolute path, or ~/x", "the path %q counts from nowhere", name)
		}
	}
	return list
}

// agents reads the agents, by their names.
func (d *decoder) agents(n *yaml.Node) map[string]Agent {
	if n.Kind != yaml.MappingNode {
		d.fail(n, "write {default: {command: [claude, -p]}}", "this must be a list of `name: agent`")
		return nil
	}
	all := make(map[string]Agent)
	d.mapping(n, func(name string, key, value *yaml.Node) {
		if value.Kind != yaml.MappingNode {
			d.fail(value, "write {command: [claude, -p]}", "an agent is a list of `key: value`")
			return
		}
		var a Agent
		d.mapping(value, func(name string, key, value *yaml.Node) { d.agent(name, key, value, &a) })
		if len(a.Command) == 0 {
			d.fail(key, "write {command: [claude, -p]}", "the agent %q has no command", name)
		}
		all[name] = a
	})
	return all
}

// agent reads a key of an agent.
func (d *decoder) agent(name string, key, value *yaml.Node, a *Agent) {
	switch name {
	case "command":
		a.Command = d.texts(value)
	case "format":
		a.Format = d.word(value, "text", "json")
	case "read":
		a.Read = d.places(value)
	case "write":
		a.Write = d.places(value)
	case "env":
		a.Env = d.texts(value)
		if err := (command.Policy{PassEnv: a.Env}).Valid(); err != nil {
			d.fail(value, "", "%v", err)
		}
	case "timeout":
		limit, ok := ParseAge(value.Value)
		if !ok || value.Kind != yaml.ScalarNode {
			d.fail(value, "write 90s or 10m", "this must be how long an answer may take")
		}
		a.Timeout = limit
	default:
		all := []string{"command", "format", "read", "write", "env", "timeout"}
		d.unknown(key, name, all, "unknown key %q of an agent", name)
	}
}
