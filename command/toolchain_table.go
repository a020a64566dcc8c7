package command

// toolchain is a row of the table.
type toolchain struct {
	name string
	// files are globs of files in a tree that uses the toolchain; programs are its programs. With neither it is always in
	// use.
	files, programs []string
	// homes are the directories of the user that the toolchain reads.
	homes []homeDir
	// caches are the toolchain's own cache directories, by the variables that name them.
	caches map[string]string
	// passes are variables of the user that the toolchain receives.
	passes []string
	// env are variables that are always set; offline are set only without a network.
	env, offline map[string]string
	// find adds settings that the table cannot express, nil for none.
	find func(f *fitting) error
}

// homeDir is a directory of the user.
type homeDir struct {
	// variable names the directory in the environment, "" for none; otherwise dir is its path below the home.
	variable, dir string
	// parts are the readable parts of it; none means all.
	parts []string
}

// toolchains are all known toolchains, a row each.
var toolchains = []toolchain{
	{
		name: "go", files: []string{"go.mod", "go.work"},
		programs: []string{"go", "gofmt", "gopls", "goimports", "staticcheck"},
		caches: map[string]string{"GOCACHE": "build", "STATICCHECK_CACHE": "staticcheck",
			"GOLANGCI_LINT_CACHE": "golangci-lint"},
		passes: []string{"GOTOOLCHAIN", "GOOS", "GOARCH", "CGO_ENABLED", "GOEXPERIMENT", "GOSUMDB"},
		env:    map[string]string{"GOTELEMETRY": "off"}, offline: map[string]string{"GOPROXY": "off"},
		find: (*fitting).findGo,
	},
	{
		name: "node", files: []string{"package.json"},
		programs: []string{"node", "npm", "npx", "pnpm", "pnpx", "yarn", "corepack", "bun", "deno"},
		homes:    []homeDir{{"COREPACK_HOME", ".cache/node/corepack", nil}},
		caches: map[string]string{
			"npm_config_cache": "npm", "npm_config_store_dir": "pnpm", "YARN_CACHE_FOLDER": "yarn",
			"YARN_GLOBAL_FOLDER": "berry",
		},
		env: map[string]string{"npm_config_update_notifier": "false", "DISABLE_TELEMETRY": "1"},
		offline: map[string]string{"npm_config_offline": "true", "COREPACK_ENABLE_NETWORK": "0",
			"YARN_ENABLE_NETWORK": "0"},
	},
	{
		name: "python", files: []string{"pyproject.toml", "setup.py", "requirements*.txt", "Pipfile", ".venv"},
		programs: []string{"python", "python3", "pip", "uv", "uvx", "poetry", "black", "ruff", "mypy", "pytest"},
		homes:    []homeDir{{"", ".local/share/uv", nil}},
		caches: map[string]string{
			"PIP_CACHE_DIR": "pip", "UV_CACHE_DIR": "uv", "RUFF_CACHE_DIR": "ruff", "MYPY_CACHE_DIR": "mypy",
			"BLACK_CACHE_DIR": "black",
		},
		env:     map[string]string{"PYTHONDONTWRITEBYTECODE": "1"},
		offline: map[string]string{"PIP_NO_INDEX": "1", "UV_OFFLINE": "1"}, find: (*fitting).findPython,
	},
	{
		name: "rust", files: []string{"Cargo.toml"}, programs: []string{"cargo", "rustc", "rustfmt", "rustup"},
		homes: []homeDir{
			{"CARGO_HOME", ".cargo", []string{"bin", "registry", "git"}},
			{"RUSTUP_HOME", ".rustup", []string{"settings.toml", "toolchains"}},
		},
		caches:  map[string]string{"CARGO_TARGET_DIR": "target"},
		offline: map[string]string{"CARGO_NET_OFFLINE": "true"},
	},
	{
		name: "java", files: []string{"pom.xml", "build.gradle", "build.gradle.kts"},
		programs: []string{"java", "javac", "mvn", "gradle", "kotlinc"},
		homes: []homeDir{
			{"JAVA_HOME", "", nil}, {"", ".m2", []string{"repository"}}, {"", ".m2/wrapper", nil},
			{"GRADLE_RO_DEP_CACHE", ".gradle/caches", nil},
		},
		caches: map[string]string{"GRADLE_USER_HOME": "gradle"}, find: (*fitting).findMaven,
	},
	{
		name: "dotnet", files: []string{"*.sln", "*.csproj", "*.fsproj", "global.json"}, programs: []string{"dotnet"},
		homes: []homeDir{
			{"DOTNET_ROOT", ".dotnet", []string{"dotnet", "host", "sdk", "shared", "packs", "templates"}},
			{"", ".dotnet/tools", nil}, {"NUGET_FALLBACK_PACKAGES", ".nuget/packages", nil},
		},
		caches: map[string]string{"NUGET_PACKAGES": "packages", "DOTNET_CLI_HOME": "home"},
		env:    map[string]string{"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1"},
	},
	{
		name: "ruby", files: []string{"Gemfile", "*.gemspec"},
		programs: []string{"ruby", "gem", "bundle", "rake", "rubocop"},
		homes: []homeDir{
			{"GEM_HOME", "", nil}, {"BUNDLE_PATH", "", nil}, {"", ".gem", []string{"ruby"}}, {"", ".local/share/gem", nil},
		},
		caches: map[string]string{"BUNDLE_USER_HOME": "bundle", "GEM_SPEC_CACHE": "specs",
			"RUBOCOP_CACHE_ROOT": "rubocop"},
	},
	{
		name: "installed", homes: []homeDir{
			{"", ".local/bin", nil}, {"", ".local/lib", nil}, {"PIPX_HOME", ".local/share/pipx", nil},
			{"ASDF_DATA_DIR", ".asdf", nil}, {"MISE_DATA_DIR", ".local/share/mise", nil}, {"NVM_DIR", ".nvm", nil},
			{"PYENV_ROOT", ".pyenv", nil}, {"RBENV_ROOT", ".rbenv", nil}, {"VOLTA_HOME", ".volta", nil},
			{"SDKMAN_DIR", ".sdkman", []string{"candidates"}}, {"HOMEBREW_PREFIX", "", nil}, {"", "../linuxbrew/.linuxbrew", nil},
		},
	},
}
