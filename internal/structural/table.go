package structural

// Rows of the table that the code refers to.
const (
	rowText = iota
	rowDockerfile
	rowJavaScript
	rowCSS
	rowGo
)

// Kinds of strings that many languages share.
var (
	double      = quote{open: `"`, close: `"`, escape: '\\'}
	single      = quote{open: `'`, close: `'`, escape: '\\'}
	char        = quote{open: `'`, close: `'`, escape: '\\', char: true}
	doubleLines = quote{open: `"`, close: `"`, escape: '\\', lines: true}
	singleLines = quote{open: `'`, close: `'`, escape: '\\', lines: true}
	triple      = quote{open: `"""`, close: `"""`, escape: '\\', lines: true}
	sqlSingle   = quote{open: `'`, close: `'`, double: true, lines: true}
	bareSingle  = quote{open: `'`, close: `'`, lines: true}
	backtick    = quote{open: "`", close: "`", lines: true}
	jsTemplate  = quote{open: "`", close: "`", escape: '\\', lines: true, code: "${"}
	bareTag     = quote{open: `"`, close: `"`, lines: true}
	cComments   = [][2]string{{"/*", "*/"}}
	slashes     = []string{"//"}
	hash        = []string{"#"}
)

// table has a row for each language.
var table = [...]*Language{
	rowText: {name: "text", also: []string{"plain"}, ext: []string{"txt"}, quotes: []quote{{open: `"`, close: `"`}}, oneLine: true},
	rowDockerfile: {name: "dockerfile", escapes: true, also: []string{"docker"}, ext: []string{"dockerfile"},
		files: []string{"Dockerfile", "Containerfile"},
		line:  hash, apart: true, quotes: []quote{double, single}, words: "$", ends: endsAlways},
	rowJavaScript: {name: "javascript", also: []string{"js", "jsx", "typescript", "ts", "tsx"},
		ext:  []string{"js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"},
		line: slashes, block: cComments, quotes: []quote{double, single, jsTemplate}, words: "$", slashes: true},
	rowCSS: {name: "css", also: []string{"scss", "less", "sass"}, ext: []string{"css", "scss", "less"}, line: slashes,
		block:  cComments,
		quotes: []quote{double, single}, words: "-"},

	rowGo: {name: "go", also: []string{"golang"}, ext: []string{"go"}, files: []string{"go.mod", "go.work"},
		line: slashes, block: cComments,
		quotes: []quote{double, single, backtick}, ends: endsInBraces},
	{name: "c", also: []string{"h"}, ext: []string{"c", "h"}, line: slashes, block: cComments, quotes: []quote{double, single}},
	{name: "cpp", also: []string{"c++", "cc", "cxx"}, ext: []string{"cc", "cpp", "cxx", "hh", "hpp", "hxx", "ipp", "m", "mm", "cu"},
		line: slashes, block: cComments, quotes: []quote{double, single}},
	{name: "csharp", also: []string{"c#", "cs"}, ext: []string{"cs"}, line: slashes, block: cComments,
		quotes: []quote{{open: `"""`, close: `"""`, lines: true}, {open: `@"`, close: `"`, double: true, lines: true},
			{open: `$@"`, close: `"`, double: true, lines: true}, {open: `@$"`, close: `"`, double: true, lines: true}, double, single}},
	{name: "java", ext: []string{"java"}, line: slashes, block: cComments, quotes: []quote{triple, double, single}, words: "$"},
	{name: "kotlin", also: []string{"kt"}, ext: []string{"kt", "kts"}, line: slashes, block: cComments, nested: true,
		quotes: []quote{{open: `"""`, close: `"""`, lines: true}, {open: `"`, close: `"`, escape: '\\', code: "${"}, single},
		ends:   endsInBraces},
	{name: "scala", ext: []string{"scala", "sc", "sbt"}, line: slashes, block: cComments, nested: true,
		quotes: []quote{{open: `"""`, close: `"""`, lines: true}, double, char}, ends: endsInBraces},
	{name: "groovy", also: []string{"gradle"}, ext: []string{"groovy", "gradle"}, line: slashes, block: cComments,
		quotes: []quote{triple, {open: `'''`, close: `'''`, escape: '\\', lines: true}, double, single}, words: "$",
		ends: endsInBraces},
	{name: "swift", ext: []string{"swift"}, line: slashes, block: cComments, nested: true,
		quotes: []quote{{open: `"""`, close: `"""`, escape: '\\', lines: true, hashes: true}, {open: `"`, close: `"`,
			escape: '\\', hashes: true}},
		words: "$", ends: endsInBraces},
	{name: "rust", also: []string{"rs"}, ext: []string{"rs"}, line: slashes, block: cComments, nested: true,
		quotes: []quote{{open: `"`, close: `"`, escape: '\\', lines: true, prefix: "rbc", raw: "r", hashes: true},
			{open: `'`, close: `'`, escape: '\\', char: true, prefix: "b"}}},
	{name: "python", also: []string{"py"}, ext: []string{"py", "pyi", "pyw"}, line: hash, files: []string{"BUILD", "BUILD.bazel", "WORKSPACE"},
		quotes: []quote{
			{open: `"""`, close: `"""`, escape: '\\', lines: true, prefix: "rRbBfFuUtT"},
			{open: `'''`, close: `'''`, escape: '\\', lines: true, prefix: "rRbBfFuUtT"},
			{open: `"`, close: `"`, escape: '\\', prefix: "rRbBfFuUtT"}, {open: `'`, close: `'`, escape: '\\', prefix: "rRbBfFuUtT"},
		}, ends: endsOutside},
	{name: "ruby", also: []string{"rb"}, ext: []string{"rb", "rake", "gemspec"}, files: []string{"Rakefile", "Gemfile"}, line: hash,
		quotes: []quote{{open: "=begin", close: "\n=end", lines: true, lineStart: true},
			{open: `"`, close: `"`, escape: '\\', lines: true, code: "#{"}, singleLines, {open: "`", close: "`", escape: '\\', lines: true}},
		words: "@$", inner: "?!", ends: endsInBraces, heredocs: true, percents: true, slashes: true},
	{name: "php", ext: []string{"php", "phtml"}, line: []string{"//", "#"}, block: cComments,
		quotes: []quote{doubleLines, singleLines}, words: "$", heredocs: true},
	{name: "perl", also: []string{"pl"}, ext: []string{"pl", "pm", "t"}, line: hash,
		quotes: []quote{doubleLines, singleLines}, words: "$@%", heredocs: true, slashes: true},
	{name: "lua", ext: []string{"lua"}, line: []string{"--"}, block: [][2]string{{"--[[", "]]"}, {"--[=[", "]=]"}, {"--[==[", "]==]"}},
		quotes: []quote{double, single, {open: "[[", close: "]]", lines: true}, {open: "[=[", close: "]=]", lines: true},
			{open: "[==[", close: "]==]", lines: true}}},
	{name: "shell", escapes: true, also: []string{"sh", "bash", "zsh"}, ext: []string{"sh", "bash", "zsh", "ksh"}, files: []string{".bashrc", ".profile"},
		line: hash, apart: true, quotes: []quote{{open: `"`, close: `"`, escape: '\\', lines: true}, bareSingle,
			{open: "`", close: "`", escape: '\\', lines: true}}, words: "$-", ends: endsInBraces, heredocs: true},
	{name: "powershell", also: []string{"ps1"}, ext: []string{"ps1", "psm1"}, line: hash, block: [][2]string{{"<#", "#>"}},
		quotes: []quote{{open: `"`, close: `"`, escape: '`', lines: true}, sqlSingle}, words: "$-", ends: endsInBraces},
	{name: "sql", ext: []string{"sql"}, line: []string{"--"}, block: cComments,
		quotes: []quote{sqlSingle, {open: `"`, close: `"`, double: true, lines: true}, {open: "`", close: "`"}}},
	{name: "html", also: []string{"vue", "svelte"}, ext: []string{"html", "htm", "xhtml", "vue", "svelte"}, block: [][2]string{{"<!--", "-->"}},
		quotes: []quote{bareTag}, words: "-", tags: true, scripts: true},
	{name: "xml", also: []string{"svg"}, ext: []string{"xml", "xsd", "xsl", "svg", "csproj", "plist"}, block: [][2]string{{"<!--", "-->"}},
		quotes: []quote{bareTag, {open: "<![CDATA[", close: "]]>", lines: true}}, words: "-", tags: true},
	{name: "json", also: []string{"jsonc"}, ext: []string{"json", "jsonc", "json5"}, line: slashes, block: cComments, quotes: []quote{double}},
	{name: "yaml", also: []string{"yml"}, ext: []string{"yaml", "yml"}, line: hash, apart: true, quotes: []quote{doubleLines, sqlSingle},
		words: "-", ends: endsAlways},
	{name: "toml", ext: []string{"toml"}, files: []string{"Cargo.lock"}, line: hash,
		quotes: []quote{triple, {open: `'''`, close: `'''`, lines: true}, double, {open: `'`, close: `'`}}, words: "-",
		ends: endsAlways},
	{name: "ini", also: []string{"conf", "properties"}, ext: []string{"ini", "cfg", "conf", "properties", "env"}, line: []string{"#", ";"},
		quotes: []quote{double}, words: "-", ends: endsAlways},
	{name: "hcl", also: []string{"terraform", "tf"}, ext: []string{"hcl", "tf", "tfvars"}, line: []string{"#", "//"}, block: cComments,
		quotes: []quote{{open: `"`, close: `"`, escape: '\\', code: "${"}}, words: "-", ends: endsInBraces, heredocs: true},
	{name: "makefile", escapes: true, also: []string{"make"}, ext: []string{"mk", "mak"}, files: []string{"Makefile", "makefile", "GNUmakefile"}, line: hash,
		quotes: []quote{double}, words: "$-", ends: endsAlways},
	{name: "cmake", escapes: true, ext: []string{"cmake"}, files: []string{"CMakeLists.txt"}, line: hash, quotes: []quote{doubleLines}, words: "$"},
	{name: "protobuf", also: []string{"proto"}, ext: []string{"proto"}, line: slashes, block: cComments, quotes: []quote{double, single}},
	{name: "graphql", also: []string{"gql"}, ext: []string{"graphql", "gql"}, line: hash, quotes: []quote{triple, double}, words: "$"},
	{name: "haskell", also: []string{"hs"}, ext: []string{"hs"}, line: []string{"--"}, block: [][2]string{{"{-", "-}"}}, nested: true,
		quotes: []quote{doubleLines, char}, inner: "'", ends: endsAlways},
	{name: "ocaml", also: []string{"ml"}, ext: []string{"ml", "mli"}, block: [][2]string{{"(*", "*)"}}, nested: true,
		quotes: []quote{doubleLines, char}, inner: "'"},
	{name: "elixir", also: []string{"ex"}, ext: []string{"ex", "exs"}, line: hash,
		quotes: []quote{triple, {open: `'''`, close: `'''`, lines: true},
			{open: `"`, close: `"`, escape: '\\', lines: true, code: "#{"}, singleLines},
		words: "@", inner: "?!", ends: endsInBraces},
	{name: "erlang", escapes: true, also: []string{"erl"}, ext: []string{"erl", "hrl"}, line: []string{"%"},
		quotes: []quote{doubleLines, singleLines}},
	{name: "clojure", escapes: true, also: []string{"lisp", "scheme", "clj"}, ext: []string{"clj", "cljs", "cljc", "edn", "lisp", "el", "scm", "rkt"},
		line: []string{";"}, quotes: []quote{doubleLines}, words: "-*+!?<>=/.:&%$"},
	{name: "r", ext: []string{"r"}, line: hash, quotes: []quote{doubleLines, singleLines, {open: "`", close: "`"}}, words: ".", ends: endsInBraces},
	{name: "julia", also: []string{"jl"}, ext: []string{"jl"}, line: hash, block: [][2]string{{"#=", "=#"}}, nested: true,
		quotes: []quote{triple, doubleLines, char}, words: "@", inner: "!", ends: endsInBraces},
	{name: "dart", ext: []string{"dart"}, line: slashes, block: cComments, nested: true,
		quotes: []quote{{open: `"""`, close: `"""`, escape: '\\', lines: true, prefix: "r", raw: "r"},
			{open: `'''`, close: `'''`, escape: '\\', lines: true, prefix: "r", raw: "r"},
			{open: `"`, close: `"`, escape: '\\', prefix: "r", raw: "r", code: "${"},
			{open: `'`, close: `'`, escape: '\\', prefix: "r", raw: "r", code: "${"}}, words: "$"},
	{name: "zig", ext: []string{"zig"}, line: slashes, quotes: []quote{double, single}, words: "@"},
	{name: "nix", ext: []string{"nix"}, line: hash, block: cComments,
		quotes: []quote{{open: "''", close: "''", lines: true, code: "${"}, {open: `"`, close: `"`, escape: '\\', lines: true,
			code: "${"}}, inner: "-'"},
	{name: "latex", escapes: true, also: []string{"tex"}, ext: []string{"tex", "sty", "cls", "bib"}, line: []string{"%"}},
	{name: "markdown", also: []string{"md"}, ext: []string{"md", "markdown", "mdx"}, quotes: []quote{{open: `"`, close: `"`}}, oneLine: true, fences: true},
}
