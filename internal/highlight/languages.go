package highlight

import (
	"path"
	"slices"
	"strings"
)

// family has the common rules of several languages.
type family struct {
	comments []string // begin a comment up to the end of the line; "#" only after a space
	blocks   []block
	quotes   string // enclose a string within a line
	escapes  bool   // a backslash keeps the character after it from ending a string
	anyCase  bool   // keywords are written in capitals, too
}

// block is a comment or string that can have several lines.
type block struct {
	begin, end string
	kind       Kind
	raw        bool
}

// language is a row of the table.
type language struct {
	names string // endings of names, and whole names
	family
	words string
}

// languages returns the table. Where languages differ little they share a row.
func languages() []language {
	stars := block{"/*", "*/", Comment, false}
	c := family{comments: []string{"//"}, blocks: []block{stars}, quotes: `"'`, escapes: true}
	script := c
	script.blocks = []block{stars, {"`", "`", String, false}}
	golang := c
	golang.blocks = []block{stars, {"`", "`", String, true}}
	rust := c
	rust.quotes = `"` // a single quote begins a lifetime
	three := c
	three.blocks = []block{stars, {`"""`, `"""`, String, false}}
	hash := family{comments: []string{"#"}, quotes: `"'`, escapes: true}
	python := hash
	python.blocks = []block{{`"""`, `"""`, String, false}, {"'''", "'''", String, false}}
	php := c
	php.comments = []string{"//", "#"}
	dashes := family{comments: []string{"--"}, blocks: []block{stars}, quotes: `"'`, anyCase: true}
	lua := family{comments: []string{"--"}, blocks: []block{{"--[[", "]]", Comment, false}}, quotes: `"'`, escapes: true}
	haskell := lua
	haskell.blocks, haskell.quotes = []block{{"{-", "-}", Comment, false}}, `"`
	lisp := family{comments: []string{";"}, quotes: `"`, escapes: true}
	const common = "break case catch class const continue default do else enum extends false final finally for if " +
		"import in instanceof interface new null package private protected public return static super switch this throw " +
		"throws true try void while abstract boolean byte char double float int long short "
	return []language{
		{".go", golang, "break case chan const continue default defer else fallthrough for func go goto if import " +
			"interface map package range return select struct switch type var true false nil iota"},
		{".c .h .cc .cpp .cxx .hh .hpp .m .mm .ino .proto", c, common + "auto extern goto inline namespace operator " +
			"register signed sizeof struct template typedef typename union unsigned using virtual volatile nullptr bool " +
			"delete friend explicit override constexpr message repeated optional service rpc syntax"},
		{".java .cs .dart .groovy .gradle", three, common + "assert implements native record sealed synchronized var " +
			"volatile yield as async await base bool decimal delegate event foreach get internal is namespace object out " +
			"override params readonly ref set string struct using virtual where def late required"},
		{".kt .kts .scala .swift", three, common + "as fun val var when object companion data override sealed suspend is " +
			"lateinit trait def type with lazy implicit match yield func let guard struct protocol extension init self nil " +
			"where defer inout"},
		{".js .jsx .mjs .cjs .ts .tsx .mts .cts", script, common + "as async await debugger declare delete export from " +
			"function get implements keyof let namespace of readonly set type typeof undefined var with yield any never " +
			"unknown number string infer satisfies"},
		{".rs", rust, "as async await break const continue crate dyn else enum extern false fn for if impl in let loop " +
			"match mod move mut pub ref return self Self static struct super trait true type unsafe use where while"},
		{".php", php, common + "and array as echo elseif endif endforeach fn foreach function global implements include " +
			"isset namespace or require require_once trait use var match"},
		{".css .scss .less", c, ""},
		{".json .jsonc .json5 .webmanifest", c, "true false null"},
		{".py .pyi .bzl .star BUILD WORKSPACE", python, "and as assert async await break class continue def del elif else " +
			"except False finally for from global if import in is lambda None nonlocal not or pass raise return True try " +
			"while with yield match case self"},
		{".rb Gemfile Rakefile", hash, "alias and begin break case class def do else elsif end ensure false for if in " +
			"module next nil not or redo require rescue retry return self super then true undef unless until when while " +
			"yield"},
		{".sh .bash .zsh .fish .ksh .env", hash, "case do done elif else esac export fi for function if in local return " +
			"select set shift then unset until while readonly source trap exit"},
		{".yaml .yml .toml .ini .cfg .conf .properties .tf .hcl .nix", hash, "true false null yes no on off"},
		{".pl .pm .r .R .jl .ex .exs", hash, "and cond def defmodule do else elsif end false fn for foreach function if in " +
			"let local my next not nil NULL or our package return sub TRUE FALSE true unless use when while NA using module"},
		{"Makefile .mk .cmake CMakeLists.txt Dockerfile Containerfile", hash, "ifeq ifneq ifdef ifndef else endif include " +
			"define endef export FROM RUN COPY ADD ENV ARG CMD ENTRYPOINT WORKDIR EXPOSE USER VOLUME AS if endif set function"},
		{".sql", dashes, "add all alter and as asc begin between by case column commit constraint create default delete " +
			"desc distinct drop else end exists foreign from group having if in index inner insert into is join key left " +
			"like limit not null on or order outer primary references returning right rollback select set table then " +
			"union unique update values view when where with"},
		{".lua", lua, "and break do else elseif end false for function goto if in local nil not or repeat return then true " +
			"until while"},
		{".hs .elm", haskell, "case class data deriving do else if import in infixl infixr instance let module newtype of " +
			"then type where"},
		{".clj .cljs .edn .el .lisp .scm", lisp, "def defn defmacro defun fn if let lambda cond do ns require loop recur " +
			"nil true false when"},
	}
}

// Of returns the language of a file by its name, or nil for a file that has no colours.
func Of(name string) *Language {
	base := path.Base(name)
	ending := path.Ext(base)
	for _, l := range languages() {
		names := strings.Fields(l.names)
		if !slices.Contains(names, base) && (ending == "" || !slices.Contains(names, ending)) {
			continue
		}
		words := strings.Fields(l.words)
		slices.Sort(words)
		return &Language{family: l.family, words: words}
	}
	return nil
}
