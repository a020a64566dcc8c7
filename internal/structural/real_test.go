package structural_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace/internal/fetched"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/structural"
)

// shapes are patterns that code of most languages has something for.
var shapes = []string{"(:[_...])", ":[[f]](:[a...])", ":[[a]] = :[b]", "[:[_...]]", "{:[_...]}"}

// TestRealFiles: real code gives its bytes back, token by token, and what patterns take of it is whole. The files are
// samples that a library for highlighting is tested with, and code that packages of npm have.
func TestRealFiles(t *testing.T) {
	t.Parallel()
	if fstest.Runs(0, 1, 1) == 0 {
		t.Skip("NOT TESTED: MILLRACE_SAMPLES=full fetches real code")
	}
	samples := filepath.Join(fetched.Module(t, "github.com/alecthomas/chroma/v2@v2.20.0",
		"h1:sfIHpxPyR07/Oylvmcai3X/exDlE8+FA820NTz+9sGw="), "lexers", "testdata")
	screens := fetched.NPM(t, "react-native-screens@4.16.0",
		"sha512-yIAyh7F/9uWkOzCi1/2FqvNvK6Wb9Y1+Kzn16SuGfN9YFJDTbwlzGRvePCNTOX0recpLQF3kc2FmvMUhyTCH1Q==")
	bootstrap := fetched.NPM(t, "bootstrap@5.3.8",
		"sha512-HP1SZDqaLDPwsNiqRqi5NcP0SSXciX2s9E+RyqJIIqGo+vJeN5AJVM98CXmW/Wux0nQ5L7jeWUdplCEf0Ee+tg==")
	lodash := fetched.NPM(t, "lodash@4.17.21",
		"sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==")
	gyp := fetched.NPM(t, "node-gyp@11.4.2",
		"sha512-3gD+6zsrLQH7DyYOUIutaauuXrcyxeTPyQuZQCQoNPZMHMMS5m4y0xclNpvYzoK3VNzuyxT6eF4mkIL4WSZ1eQ==")
	capacitor := fetched.NPM(t, "@capacitor/android@7.4.4",
		"sha512-y8knfV1JXNrd6XZZLZireGT+EBCN0lvOo+HZ/s7L8LkrPBu4nY5UZn0Wxz4yOezItEII9rqYJSHsS5fMJG9gdw==")
	distribution := fetched.Distribution(t)
	src := filepath.Join(distribution, "src")
	android := filepath.Join(screens, "android", "src", "main")
	for lang, file := range map[string]string{
		"c": filepath.Join(src, "runtime", "cgo", "gcc_util.c"), "cmake": filepath.Join(android, "jni", "CMakeLists.txt"),
		"cpp":        filepath.Join(screens, "windows", "RNScreens", "ScreenViewManager.cpp"),
		"csharp":     filepath.Join(samples, "csharp", "csharp_9_records_1.actual"),
		"css":        filepath.Join(bootstrap, "scss", "_variables.scss"),
		"dart":       filepath.Join(samples, "dart.actual"),
		"dockerfile": filepath.Join(src, "crypto", "internal", "boring", "Dockerfile"),
		"elixir":     filepath.Join(samples, "elixir.actual"), "erlang": filepath.Join(samples, "erlang.actual"),
		"go": filepath.Join(src, "net", "http", "server.go"), "graphql": filepath.Join(samples, "graphql.actual"),
		"groovy": filepath.Join(screens, "android", "build.gradle"), "haskell": filepath.Join(samples, "haskell.actual"),
		"hcl": filepath.Join(samples, "terraform.actual"), "html": filepath.Join(samples, "vue.actual"),
		"ini":        filepath.Join(samples, "properties.actual"),
		"java":       filepath.Join(capacitor, "capacitor", "src", "main", "java", "com", "getcapacitor", "Bridge.java"),
		"javascript": filepath.Join(lodash, "lodash.js"), "json": filepath.Join(lodash, "package.json"),
		"julia":  filepath.Join(samples, "julia.actual"),
		"kotlin": filepath.Join(android, "java", "com", "swmansion", "rnscreens", "Screen.kt"),
		"latex":  filepath.Join(samples, "tex.actual"), "makefile": filepath.Join(src, "runtime", "Makefile"),
		"markdown": filepath.Join(samples, "markdown.actual"), "nix": filepath.Join(lodash, "flake.nix"),
		"ocaml": filepath.Join(samples, "ocaml.actual"), "perl": filepath.Join(src, "syscall", "mksyscall.pl"),
		"php": filepath.Join(samples, "php.actual"), "powershell": filepath.Join(samples, "powershell.actual"),
		"python": filepath.Join(gyp, "gyp", "pylib", "gyp", "input.py"), "r": filepath.Join(samples, "r.actual"),
		"ruby": filepath.Join(screens, "RNScreens.podspec"), "rust": filepath.Join(samples, "rust", "rust.actual"),
		"scala": filepath.Join(samples, "scala.actual"), "shell": filepath.Join(src, "make.bash"),
		"sql":   filepath.Join(samples, "materialize.actual"),
		"swift": filepath.Join(screens, "ios", "gamma", "split-view", "RNSSplitViewHostController.swift"),
		"text":  filepath.Join(distribution, "LICENSE"), "toml": filepath.Join(gyp, "gyp", "pyproject.toml"),
		"xml":  filepath.Join(android, "res", "v33", "anim-v33", "rns_default_enter_out.xml"),
		"yaml": filepath.Join(samples, "yaml.actual"), "zig": filepath.Join(samples, "zig.actual"),
	} {
		of, err := structural.Named(lang)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s: %v", lang, err)
			continue
		}
		if err := printedBack(data, of); err != nil {
			t.Errorf("%s: %v", lang, err)
		}
		matches := 0
		for _, shape := range shapes {
			for _, text := range found(t, parse(t, lang, shape), string(data), file) {
				matches++
				tokens, err := structural.Lex([]byte(text), of)
				if err != nil {
					t.Fatal(err)
				}
				for _, tok := range tokens {
					if tok.Kind == "broken" {
						t.Errorf("%s: %s takes half a pair: %.100q", lang, shape, text)
						break
					}
				}
			}
		}
		t.Logf("%s: %d bytes, %d matches", lang, len(data), matches)
	}
}
