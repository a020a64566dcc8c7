package sed_test

import "github.com/millrace-go/millrace/internal/sed"

// group is a set of scripts that run over the same inputs.
type group struct {
	name    string
	options sed.Options
	inputs  []string
	scripts []string
}

var quietBasic = sed.Options{Syntax: sed.BRE, Quiet: true}

const words = "one two\nthree éà Four\n\nFIVE six-seven\n"

// groups are the scripts whose results are recorded in testdata/golden.txt.
func groups() []group {
	bre, ere := sed.Options{Syntax: sed.BRE}, sed.Options{}
	lines := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	return []group{
		{"s", ere, []string{words, "one", "", "\n", "a\nb"}, []string{
			`s/o/0/`, `s/o/0/g`, `s/o/0/2`, `s/[a-z]+/<&>/2g`, `s/o/0/p`, `s/e/E/gp`, `s/ONE/x/i`, `s/one/x/I`, `s/$/./`, `s/^/> /`, `s/.*/x/`, `s/.*/x/g`,
			`s/.//`, `s/x*/-/g`, `s/x*/-/2`, `s/ *$//`, `s,o,/,g`, `s|o|\||`, `s o 0 `, `s#o#0#g # comment`, `s/o/\//`, `s/t/a&b\&c/`, `s/(.)(.)/\2\1/g`,
			`s/\b/|/g`, `s/\B/|/g`, `s/\</</g`, `s/\>/>/g`, `s/\w+/W/g`, `s/\W+/_/g`, `s/\s/_/g`, `s/\S+/S/2`, "s/\\`/B/", `s/\'/E/`, `s/n/\n/`, `s/n/\t/`,
			"s/o/a\\\nb/", `s/e/1/;s/e/2/`, `s/e/1/;s//2/;s//3/`, `s/e/1/ ; s/e/2/`, "s/e/1/\ns/e/2/", `{s/e/1/;s/e/2/}`, `s/e/&&/3;s/e/&&/1`, `s/^$/empty/`,
			`s/e$/E/m`, `s/ /\n/g;s/^/>/Mg`, `s/ /\n/g;s/$/</Mg`, `s/ /\n/g;s/^./X/g`, `s/ /\n/g;s/.$/X/Mg`, "s/ /\\n/g;s/\\`./X/Mg", `s/ /\n/g;s/.\'/X/Mg`,
			`s/ /\n/;s/.*/[&]/M`, `s/ /\n/;s/[^x]*/[&]/M`, `s/ /\n/;s/e\nt/_/`, `s/ /\n/;s/e$/_/`, `s/ /\n/;s/.*\n//`, `s/o/\x41\x26\d038\o046/`, `s/o/\cA\cz/`,
		}},
		{"case", ere, []string{words, "ǆx ßé straße\n", "hELLO wORLD\n"}, []string{
			`s/\w+/\u&/g`, `s/\w+/\L\u&/g`, `s/\w+/\u\L&/g`, `s/.*/\U&/`, `s/.*/\L&/`, `s/(\w+) (\w+)/\U\1\E \2/`, `s/(\w+) (\w+)/\l\1 \u\2/`, `s/\w/\U&x\Ey/g`,
			`s/()(\w)/\u\1\2/`, `s/(x?)(\w+)/\U\u\1\2/`, `s/(x?)(x?)(\w+)/\u\1\2\3/`, `s/\w+/\Uab\lCD\E&/`, `s/\w+/\l\u&/`, `s/\w+/\u\l&/`, `s/\w+/\u-&/`, `s/\w+/\ua&/`,
			`s/(\w)(\w*)/\U\1\L\2/g`, `s/\w+/\U\l&/`, `s/\w+/\u/`, `s/\w+/a\Ub\Ec/`, `s/e/\u\n/`, `s/(\w+)/\u\x61\1/`,
		}},
		{"address", ere, []string{lines, "1\n2", "a\nb\na\nb\na\n", ""}, []string{
			`2d`, `$d`, `2!d`, `$!d`, `2,4d`, `2,+2d`, `2,~4d`, `4,~4d`, `5,~4d`, `0~3d`, `1~3d`, `2~0d`, `0~4!d`, `/1/d`, `/1/!d`, `/a/,/b/d`, `/a/,+1d`, `0,/1/d`, `1,/1/d`,
			`0,/a/d`, `1,/a/d`, `4,2d`, `/3/,2d`, `2,/x/d`, `2,$d`, `/b/,$d`, `2,3!d`, `/a/,/a/d`, `/1/,/1/s/^/x/`, `2{d}`, `2,4{s/^/x/;3d}`, `2{p;p};3{d}`, `/a/{/b/d}`,
			`2,5{3,4d}`, `{2,3{d}}`, `p`, `2p`, `2p;2p`, `$p`, `2,3p;d`, `y/12/ab/`, `y/a1\n/b2 /`, `2y/2/é/`, `p;d`, `d;p`, `1!{$!d}`, `2,~0d`, `2,+0d`, `3,0~2d`, `3,$!d`, `\,1,d`,
			`\a1ad`, `/1/I,/3/Md`, `1d;2d;3d`, `5,3p;d`, `2 , 3 ! d`, `/1/ , /2/ d`, "2{\nd\n}\n", `2{};3d`, `{;}`, `;;p;;`, `# nothing`, `1,2#x`, `/^$/d`, `//d`, `/a/s//x/`, `/a/{s/a/b/;s//c/}`,
			`/b/!s/a/x/;s//y/`, `2,/3/{//!d}`, `/a/,/b/{//d}`,
		}},
		{"texts", ere, []string{lines, "1\n2", "a\nb\na\nb\na\n", "", "\n"}, []string{
			`2a x`, `$a x`, `2i x`, `$i x`, `2c x`, `$c x`, `1,2c x`, `2,9c x`, `2!c x`, `2,3!c x`, `/a/,/b/c x`, `0,/1/c x`, `4,2c x`, `/1/,+1c x`, `2,~4c x`, "2,3{c x\n}", `ax`, `a\x`, `a\  x`, `a  \  x`, "a\\\n  x", "a\\\nx\\\ny",
			"a\\\n  x\\\n  y", `a x\ty\n z\q\\w\x41\d065\cA`, `a\tx`, "a\n", "a\\\n", "a x\np", "a x\nd", "a x\n2d", `a x;p`, `a x}`, `a{`, `a#x`, `a é\é\xff`, `i` + "\t \tx ", "p\na x", "p\ni x", "i x\np\na y", "a x\na y", "1{a x\n}",
			"i x\ns/1/0/", "s/a/c/p\na x", "i x\nc y\na z", "a a\\cxb", "$!a x", "/b/!i x", "# c\na x", "a x\n2i 1\n", "y/1/3/\na x", "s/$/x/\na x", "a x\r\np", `1 ! a x`, `a \\tx`, `a "x" 'y'`,
		}},
		{"more lines", ere, []string{lines, "1\n2", "1\n2\n3", "a\nb\na\nb\na\n", "", "\n\n"}, []string{
			`n`, `N`, `n;d`, `N;d`, `$!n`, `$!N`, `N;s/\n/,/`, `$!N;s/\n/,/`, `n;s/./x/`, `N;N;s/\n/,/g`, `/a/N;s/\n/,/`, `/a/{n;s/b/c/}`, `/a/{N;s/\n/,/}`, `n;n;s/./x/`, `2n;p`, `N;p`, `n;p`, `p;n`, `p;N`, `s/./&&/;N;s/\n/,/`,
			`s/./&&/;N`, `s/./x/;s/x/y/;N;s/\n/-/`, `y/1a/xz/;N;y/\n/,/`, `N;2q`, `2q`, `2Q`, `/b/q`, `/b/Q`, `q`, `Q`, `$q`, `$Q`, `n;q`, `N;q`, `2{p;q}`, "a x\nN", "a x\nn", "i x\nN", "i x\nn", "a x\nn\ni y", "a x\nN\na y", "a x\nq", "a x\nQ", "a x\n2q",
			"a x\n2Q", "2{a x\nq\n}", "c x\nn", "1!N\ns/\\n/+/", "1{N;N;a x\n}\ns/\\n/,/g", "N;c x", "N;1,2c x", "N;2,3c x", "n;2,3d", "N;1d", "N;i x", "2,3N", "1,2n;d", "N;N;N;N;N;N;N;N;N;N;N;s/\\n/,/g", "n;n;n;n;n;n;n;n;n;n;n;d",
			`N;/1$/d`, `/1/,/3/{N;s/\n/+/}`, `$!{N;N};d`, `N;s/\n//;p;p`, `2~3N;s/\n/,/`, `N;s/^/>/Mg`, `N;s/b\n/x/`, `s/1/x/;N;s/2/y/`, `N # c`, `{N}`, `q # c`, `{2q}`,
		}},
		{"quiet texts", sed.Options{Quiet: true}, []string{lines, "1\n2", "a\nb\na\n"}, []string{
			`a x`, `i x`, `c x`, "p\na x", "$p\n$a x", "a x\np", "i x\np", `n;p`, `N;p`, `2q`, `2Q`, "a x\n2q", "a x\n2Q", "p\n2q", "N;p;q", "a x\nN;p", "a x\nn;p", "1,2c x", "p;n;p",
		}},
		{"quiet", quietBasic, []string{lines, "a\nb", ""}, []string{
			`p`, `2p`, `$p`, `p;p`, `s/1/x/p`, `s/1/x/;p`, `s/a/b/p;s/b/c/p`, `2,3p`, `d`, `/a/p`, `/b/{p;p}`, `$!p`, `y/ab/ba/;p`,
		}},
		{"hash n", bre, []string{"a\nb\n"}, []string{"#n\np", "#n", "#np", "# n\np", "p\n#n", "#no\np", "1#n"}},
		{"basic", bre, []string{"aab(c)*d+e?f|g{2}^h$i\n", "ab*+?\n^x$\n", "baaac\nabc\n"}, []string{
			`s/a*/x/g`, `s/b*/x/2`, `s/a*/x/2`, `s/a\+/x/`, `s/a\?b/x/`, `s/a\|b/x/g`, `s/(c)/x/`, `s/\(a\)\(b\)/\2\1/`, `s/+/x/`, `s/?/x/`, `s/|/x/`, `s/{2}/x/`, `s/a\{2\}/x/`, `s/a\{1,\}/x/`,
			`s/a\{,1\}b/x/`, `s/*/x/`, `s/^*/x/`, `s/\(*\)/x/`, `s/a\|*/x/`, `s/\(^a\)/x/`, `s/a^/x/`, `s/\^h/x/`, `s/a\|^b/x/`, `s/$i/x/`, `s/\(i$\)/x/`, `s/h$/x/`, `s/\$/x/`, `s/^^x/y/`, `s/x$$/y/`,
			`s/.\{3\}/x/2`, `s/[*+?]/x/g`, `s/\+/x/`, `s/\?/x/`, `s/a*\+/x/`, `s/\(a*\)*/x/`, `s/\(a*\)\+/[\1]/`, `s/[^]abc]/x/g`, `s/[]abc]/x/g`, `s/[a-]/x/g`, `s/[-a]/x/g`, `s/[\a]/x/g`, `s/[\n]/x/g`,
			`s/[\.]/x/g`, `s/[[:alpha:]]*/x/`, `s/[^[:alpha:][:digit:]]/x/g`, `s/[[.a.]]/x/g`, `s/[[=a=]b]/x/g`, `s/[[.-.]+]/x/g`, `s/[%--]/x/g`, `s/[/]/x/`, `s/[/]*/x/`, `s/\x41*a/x/`, `s/\x2e/x/g`, `s/\o141/x/`, `s/\d97/x/`,
			`s/a\n*/x/`, `s.\..x.`, `s|a\|b|x|`, `s+a\+b+x+`, `s*a\**x*`, `sabacag`, `s/\a/x/`, `s/\q/x/`, `s/\é/x/`,
		}},
		{"submatches", ere, []string{"abcd\nabcbcd\naabb\n", "ab\nba\naaa\n\n"}, []string{
			`s/(a|ab)(c|bcd)(d*)/[\1][\2][\3]/`, `s/(a|ab)(bcd|c)(d*)/[\1][\2][\3]/`, `s/(a*)*/[\1]/`, `s/(a*)+/[\1]/`, `s/(a*)*(b*)/[\1][\2]/`, `s/(a|b)*c|(a|ab)*c/[\1][\2]/`, `s/((a)|b)*/[\1][\2]/`, `s/(a?)*/[\1]/`,
			`s/((a)(b)?)*/[\1][\2][\3]/`, `s/(a|b|ab)*/[\1]/`, `s/(ab|a)(bc|c)?/[\1][\2]/`, `s/(a|ab|c|bcd)*/[\1]/`, `s/((a*)(b|abc))(c*)/[\1][\2][\3][\4]/`, `s/(a){0}b/[\1]/`, `s/(a){2,3}/[\1]/`, `s/((a){1,2}){1,2}/[\1][\2]/`,
			`s/(()|a)+/[\1][\2]/`, `s/(|a)+/[\1]/`, `s/(a|)+/[\1]/`, `s/(a*|b)*/[\1]/`, `s/(((a)))/[\1][\2][\3]/`, `s/((a)|(b))+/[\1][\2][\3]/`, `s/(.?)*(.)/[\1][\2]/`, `s/(.*)(.*)/[\1][\2]/`, `s/(a+|b+)*/[\1]/`, `s/(^a)+/[\1]/`,
			`s/(a$)?/[\1]/`, `s/(a|$){2}/[\1]/`, `s/(\ba)*/[\1]/`, `s/(b|\ba)+/[\1]/`, `s/(a*)(a|aa)/[\1][\2]/`, `s/(a{0,2})*/[\1]/`, `s/((a?)b?)*/[\1][\2]/`, `s/(..)*(...)*/[\1][\2]/`, `s/(ab?)(b?a)*/[\1][\2]/`,
		}},
		{"anchors", ere, []string{"cb\nbcc\naa\nb b\n", "ab cd\na-bccéa\nabd acd\nc\n-c\nacé\nbéacA\nb\n"}, []string{
			`s/ /\n/;s/b\n^./_/`, `s/ /\n/;s/b$\n./_/`, `s/ /\n/;s/\W/_/Mg`, `s/ /\n/;s/\S/_/Mg`, `s/ /\n/;s/(b?|(b$.))b/[\1]/`, `s/ /\n/;s/(.)^/[\1]/`, `s/ /\n/;s/$(.)/[\1]/M`,
			"s/(\\`|(c))+(.?)/[\\1][\\3]/", `s/b(^|(c|^)+)(b*)/[\1][\2][\3]/`, `s/(^a)+/x/`, `s/(\<a)+/x/`, `s/(^a){2}/x/`, `s/(b|^c)+/[\1]/`, `s/((a|$))++/[\1]/`, `s/((é|^)+)./[\1]/`, `s/(\B|a)+/[\1]/`,
			`s/(a*){0,2}/[\1]/`, `s/(.*)+{2,2}/[\1]/`, `s/([ab]|[^a]*){1,3}/[\1]/`, `s/a(b|c)d/x/`, `s/ab?c?d/x/2`, `s/a{0}bd/x/`, `s/(a(b|c)*)+d/x/g`, `s/^^a/x/`, `s/\b^a/x/`, `s/c((^|b)|(.)){0,3}/x/`, `s/((\>)?){0,2}/x/`, `s/(b|((\b|c))){2,2}/[\1]/`, `s/(c)*((^)|b)+/x/`, `s/[ab]+c*((é|^)+)/x/`, `s/([[:alpha:]]|\<)+/x/`, `s/b(^|(c|^)+)(b*{1})/x/`, "s/(\\`|(c))+b*{0}(.?)/x/", `s/b((a|\b)){2}/x/`, `s/a\>$|c\>/x/`,
		}},
		{"bytes", ere, []string{"a\xe9b\xc3\xa9c\n\xc3\xff\x80\n", "a\x00b\r\nc\x00\x00\r", "日本語 ñandú\n", "\xc0\x80\xe2\x82\xac\xe2\x82\n\xe0\x80\x80\xf0\x80\x80\x80\n"}, []string{
			`s/./x/g`, `s/.*/x/`, `s/[^a]/x/g`, `s/[^a]*/x/g`, `s/q*/-/g`, `s/\xe9/x/g`, `s/\xc3/x/g`, `s/\xa9/x/`, `s/\xc3\xa9/x/`, `s/é/e/`, `s/é*/-/g`, `s/\w/x/g`, `s/\W/x/g`, `s/\b/-/g`, `s/\r$//`, `s/\x00/0/g`, `s/[[:space:]]/_/g`,
			`s/[[:alpha:]]*/-/g`, `s/(.)(.)/\2\1/g`, `s/a.b/x/`, `s/.\xe9./x/`, `s/$/\xff/`, `y/é/e/`, `y/a/\xff/`, `y/\xe9/a/`, `s/[é語]/x/g`, `s/É/x/gi`, `s/[Éñ]/x/gI`, `s/\x80|a/x/`, `s/(\xff)(\x80)/\2\1/`, `s/$/\U\xe9a/`, `s/€/E/`,
		}},
	}
}

// refusals are scripts that both GNU sed and this package refuse.
func refusals() []group {
	return []group{
		{"scripts", sed.Options{}, nil, []string{
			`s`, `s/`, `s/a`, `s/a/`, `s/a/b`, `s/a/b/x`, `s/a/b/gg`, `s/a/b/pp`, `s/a/b/1 2`, `s/a/b/0`, `s/a/b/g1g`, `s/a/b/ p q`, `séaébé`, "s/a\nb/c/", "s/a/b\nc/", `s/[/x/`, "s/[\n]/x/", `y`, `y/a`, `y/a/`, `y/a/b`, `y/a/bc/`, `y/ab/c/`, `y/a/b/g`,
			`}`, `{`, `{p`, `{p}}`, `{{p}`, `1}`, `1,2}`, `{}p`, `pp`, `p1`, `dd`, `p}`, `1`, `1,`, `1,p`, `,p`, `1,2,3p`, `1!!p`, `!`, `+1p`, `~1p`, `0p`, `0,1p`, `0,$p`, `0~0p`, `1;p`, `1#x`, `/a`, `/a/`, `\`, `\a`, `\aba`, `é`, `k`, `?`, `&`, `s/a/\1/`, `s/(a)/\2/`,
			`s//x/I`, `//Ip`, `//Mp`, `/a/,//Ip`, `s/a/\c\n/`, `s/\c/x/`, `{;`, `2{s/a/b/`, `s/a/b/}`, "s/a/b/\r;", `u`, `a`, `a `, `2i`, `c`, `1{a x}`, `1,2q`, `/a/,$Q`, `q x`, `qq`, `n1`, `N x`, `nn`, `{q`, `1~2`, `1,+`, `/a/,p`, "\\\na\np", "p;\n}",
		}},
		{"extended", sed.Options{}, nil, []string{
			`s/(/x/`, `s/)/x/`, `s/(a/x/`, `s/a)/x/`, `s/*/x/`, `s/+/x/`, `s/?/x/`, `s/{1}/x/`, `s/(*a)/x/`, `s/a|*b/x/`, `s/^*/x/`, `s/a{/x/`, `s/a{1/x/`, `s/a{1,/x/`, `s/a{x}/x/`, `s/a{2,1}/x/`, `s/a{32768}/x/`, `s/a{1,32768}/x/`, `s/a{}/x/`, `s/a{1,2,3}/x/`, `s/[b-a]/x/`,
			`s/[[:foo:]]/x/`, `s/[[:alpha:/x/`, `s/[:alpha:]/x/`, `s/[^:alpha:]/x/`, `s/[a-b-c]/x/`, `s/[a-[:digit:]]/x/`, `s/[[=ab=]]/x/`, `s/[[.space.]]/x/`, `s/[a-é]/x/`, `s/[é-ü]/x/`, `s/[\x5e]/x/`, `s/\x5c/x/`, `s/[a-[=b=]]/x/`, `s/[Z-a]/x/I`, `s/\b*/x/`, `s/$+/x/`, `/(/p`, `/a/,/(/p`,
		}},
		{"basic", sed.Options{Syntax: sed.BRE}, nil, []string{
			`s/\(/x/`, `s/\)/x/`, `s/a\)/x/`, `s/\{1\}/x/`, `s/a\{/x/`, `s/a\{1/x/`, `s/a\{x\}/x/`, `s/a\{2,1\}/x/`, `s/a**/x/`, `s/a*\{2\}/x/`, `s/a\{2\}*/x/`, `s/[a/x/`, `s/[[:upper:/x/`, `s/\(a\)/\2/`,
		}},
	}
}

// unsupported are scripts that GNU sed accepts and this package refuses on purpose.
func unsupported() []string {
	return []string{
		`w f`, `r f`, `W f`, `R f`, `e`, `q5`, `Q 1`, `a\`, `a x\`, `b`, `t`, `T`, `:a`, `D`, `P`, `g`, `G`, `h`, `H`, `x`, `=`, `l`, `F`, `L`, `z`, `v`, `s/a/b/w f`, `s/a/b/e`, `2q3`, `/x/w f`, `{q1}`,
		`s/(a)\1/x/`, `/(a)\1/p`, `s/[\xe9]/x/`, `s/\xe9[a-z]/x/`, `s/\xe9/x/I`, `s/\w\xe9/x/`,
	}
}
