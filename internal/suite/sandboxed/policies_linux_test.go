package sandboxed_test

import (
	"path/filepath"

	"github.com/millrace-go/millrace/command"
)

// The policies that docs/exec.md shows, word for word.

func goPolicy(cache, modules string) command.Policy {
	return command.Policy{
		Allow: []string{"gofmt *", "go build *", "go vet *", "go test *"},
		Env: map[string]string{
			"GOCACHE":     cache,   // of the commands alone
			"GOMODCACHE":  modules, // that of the host: go env GOMODCACHE
			"GOPROXY":     "off",   // what is not there cannot be fetched
			"GOTOOLCHAIN": "local",
		},
		Read:        []string{modules},
		Write:       []string{cache},
		KeepScratch: true,
	}
}

func nodePolicy(cache string) command.Policy {
	return command.Policy{
		Allow: []string{"npm run *", "npm test *", "npx --no *", "node --test *"},
		Env: map[string]string{
			"npm_config_cache":           cache, // of the commands alone
			"npm_config_offline":         "true",
			"npm_config_update_notifier": "false",
		},
		Write:       []string{cache},
		KeepScratch: true, // node_modules is copied once
	}
}

func pythonPolicy(venv, python string) command.Policy {
	return command.Policy{
		Allow: []string{"python -m unittest *"}, // and what else is installed in the environment
		Env: map[string]string{
			"PATH":                    filepath.Join(venv, "bin") + ":/usr/bin:/bin",
			"PYTHONDONTWRITEBYTECODE": "1", // no __pycache__ comes back
		},
		Read: []string{venv, python}, // python: what sys.base_prefix is in the environment
	}
}
