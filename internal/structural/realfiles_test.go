package structural_test

import (
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace/internal/fetched"
	"github.com/millrace-go/millrace/internal/fstest"
)

// realFiles returns a file of real code for each language: test samples of a library for syntax highlighting, and code
// from npm packages and Go modules.
func realFiles(t *testing.T) map[string]string {
	t.Helper()
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
	natal := fetched.NPM(t, "re-natal@0.9.0",
		"sha512-hDKMaSFBqu0LQyErqMX0+4T37VGrEwEZzr4U0DdZYyRfVBK0Um/Foz9rak/hyNSMp6for1hF6h76fKOMPWYN/A==")
	protocol := fetched.NPM(t, "protobufjs@8.8.1",
		"sha512-d9e9179bjXSJdpJ3+R9fP8hzXsnKLyxTjHLG1dUzje8a27pPyXCe6PrcRtgx2rjoM3IZzHd2vAs+6J/BsO1k7Q==")
	buffers := fetched.Module(t, "github.com/google/flatbuffers@v25.2.10+incompatible",
		"h1:F3vclr7C3HpB1k9mxCGRMXq6FdUalZ6H/pNX4FP1v0Q=")
	thrift := fetched.Module(t, "github.com/apache/thrift@v0.13.0", "h1:5hryIiq9gtn+MiLVn0wP37kb/uTeRZgN08WoCsAhIhI=")
	android := filepath.Join(screens, "android", "src", "main")
	glib := filepath.Join(thrift, "lib", "c_glib", "src", "thrift", "c_glib")
	return map[string]string{
		"c":          filepath.Join(glib, "protocol", "thrift_binary_protocol.c"),
		"clojure":    filepath.Join(natal, "resources", "cljs-om-next", "core.cljs"),
		"cmake":      filepath.Join(android, "jni", "CMakeLists.txt"),
		"cpp":        filepath.Join(screens, "windows", "RNScreens", "ScreenViewManager.cpp"),
		"csharp":     filepath.Join(buffers, "net", "FlatBuffers", "ByteBuffer.cs"),
		"css":        filepath.Join(bootstrap, "scss", "_variables.scss"),
		"dart":       filepath.Join(buffers, "dart", "lib", "flat_buffers.dart"),
		"dockerfile": filepath.Join(thrift, "build", "docker", "ubuntu-bionic", "Dockerfile"),
		"elixir":     filepath.Join(samples, "elixir.actual"),
		"erlang":     filepath.Join(thrift, "lib", "erl", "src", "thrift_client.erl"),
		"go":         filepath.Join(thrift, "lib", "go", "thrift", "simple_json_protocol.go"),
		"graphql":    filepath.Join(samples, "graphql.actual"),
		"groovy":     filepath.Join(screens, "android", "build.gradle"),
		"haskell":    filepath.Join(thrift, "lib", "hs", "src", "Thrift", "Protocol", "JSON.hs"),
		"hcl":        filepath.Join(samples, "terraform.actual"),
		"html":       filepath.Join(samples, "vue.actual"),
		"ini":        filepath.Join(samples, "properties.actual"),
		"java":       filepath.Join(capacitor, "capacitor", "src", "main", "java", "com", "getcapacitor", "Bridge.java"),
		"javascript": filepath.Join(lodash, "lodash.js"),
		"json":       filepath.Join(lodash, "package.json"),
		"julia":      filepath.Join(samples, "julia.actual"),
		"kotlin":     filepath.Join(android, "java", "com", "swmansion", "rnscreens", "Screen.kt"),
		"latex":      filepath.Join(samples, "tex.actual"),
		"lua":        filepath.Join(buffers, "lua", "flatbuffers", "builder.lua"),
		"makefile":   filepath.Join(thrift, "lib", "ocaml", "src", "Makefile"),
		"markdown":   filepath.Join(samples, "markdown.actual"),
		"nix":        filepath.Join(lodash, "flake.nix"),
		"ocaml":      filepath.Join(thrift, "lib", "ocaml", "src", "Thrift.ml"),
		"perl":       filepath.Join(thrift, "lib", "perl", "lib", "Thrift", "Protocol.pm"),
		"php":        filepath.Join(buffers, "php", "ByteBuffer.php"),
		"powershell": filepath.Join(samples, "powershell.actual"),
		"protobuf":   filepath.Join(protocol, "google", "protobuf", "descriptor.proto"),
		"python":     filepath.Join(gyp, "gyp", "pylib", "gyp", "input.py"),
		"r":          filepath.Join(samples, "r.actual"),
		"ruby":       filepath.Join(screens, "RNScreens.podspec"),
		"rust":       filepath.Join(buffers, "rust", "flatbuffers", "src", "builder.rs"),
		"scala":      filepath.Join(samples, "scala.actual"),
		"shell":      filepath.Join(thrift, "test", "features", "tls.sh"),
		"sql":        filepath.Join(samples, "materialize.actual"),
		"swift":      filepath.Join(screens, "ios", "gamma", "split-view", "RNSSplitViewHostController.swift"),
		"text":       filepath.Join(thrift, "LICENSE"),
		"toml":       filepath.Join(gyp, "gyp", "pyproject.toml"),
		"xml":        filepath.Join(android, "res", "v33", "anim-v33", "rns_default_enter_out.xml"),
		"yaml":       filepath.Join(samples, "yaml.actual"),
		"zig":        filepath.Join(samples, "zig.actual"),
	}
}
