/* syntax - finds comments, strings, numbers and keywords in a line of code, by a language table. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/syntax.h"

#include <ctype.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/util.h"

#define LONGS 2 /* kinds of strings of several lines */

/* Lists are words between blanks, with a blank at each end. */
struct syntax {
	const char *name;
	const char *endings, *files; /* of file names; whole file names */
	const char *line[2];	     /* begins a comment up to the end of the line */
	const char *open, *close;    /* of a comment of several lines */
	const char *quotes;	     /* around strings of one line; a backslash escapes */
	const char *longs[LONGS];    /* around strings of several lines */
	const char *keywords, *types;
	bool hash;   /* # begins a line for the preprocessor */
	bool folded; /* keywords match in any case */
	bool dashed; /* words may contain - */
};

#define C_WORDS                                                                                    \
	" break case continue default do else enum extern for goto if inline register return "     \
	"sizeof static struct switch typedef union volatile while const restrict alignof "
#define C_TYPES                                                                                    \
	" bool char double float int long short signed size_t ssize_t unsigned void wchar_t "      \
	"int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t off_t "       \
	"pid_t mode_t NULL true false "

static const struct syntax languages[] = {
	{.name = "C",
	 .endings = " c h ",
	 .line = {"//"},
	 .open = "/*",
	 .close = "*/",
	 .quotes = "\"'",
	 .keywords = C_WORDS,
	 .types = C_TYPES,
	 .hash = true},
	{.name = "C++",
	 .endings = " cc cpp cxx hh hpp hxx m mm cu ",
	 .line = {"//"},
	 .open = "/*",
	 .close = "*/",
	 .quotes = "\"'",
	 .keywords = C_WORDS
	 "auto catch class constexpr delete explicit export final friend mutable namespace new "
	 "noexcept operator override private protected public template this throw try typename "
	 "using virtual ",
	 .types = C_TYPES "nullptr string vector ",
	 .hash = true},
	{.name = "Go",
	 .endings = " go ",
	 .line = {"//"},
	 .open = "/*",
	 .close = "*/",
	 .quotes = "\"'",
	 .longs = {"`"},
	 .keywords = " break case chan const continue default defer else fallthrough for func go "
		     "goto if import interface map package range return select struct switch type "
		     "var ",
	 .types = " any bool byte error float32 float64 int int8 int16 int32 int64 rune string "
		  "uint uint8 uint16 uint32 uint64 uintptr nil true false iota "},
	{.name = "Rust",
	 .endings = " rs ",
	 .line = {"//"},
	 .open = "/*",
	 .close = "*/",
	 .longs = {"\""},
	 .keywords = " as async await break const continue crate dyn else enum extern fn for if "
		     "impl in let loop match mod move mut pub ref return self static struct super "
		     "trait type unsafe use where while ",
	 .types = " bool char f32 f64 i8 i16 i32 i64 i128 isize str String u8 u16 u32 u64 u128 "
		  "usize Self Vec Option Result Some None Ok Err Box true false "},
	{.name = "JavaScript",
	 .endings = " js mjs cjs jsx ts tsx mts cts vue svelte ",
	 .line = {"//"},
	 .open = "/*",
	 .close = "*/",
	 .quotes = "\"'",
	 .longs = {"`"},
	 .keywords = " abstract as async await break case catch class const continue debugger "
		     "declare default delete do else enum export extends finally for from function "
		     "get if implements import in instanceof interface let new of private "
		     "protected public readonly return set static super switch this throw try type "
		     "typeof var void while with yield ",
	 .types = " any bigint boolean never null number object string symbol undefined unknown "
		  "true false NaN Promise Array Map Set "},
	{.name = "Java",
	 .endings = " java kt kts cs scala groovy gradle swift dart ",
	 .line = {"//"},
	 .open = "/*",
	 .close = "*/",
	 .quotes = "\"'",
	 .longs = {"\"\"\""},
	 .keywords =
		 " abstract as assert break case catch class companion const continue data default "
		 "defer do else enum extends extension final finally for func fun guard if "
		 "implements import in init instanceof interface internal is let namespace new "
		 "object open override package private protected protocol public record return "
		 "sealed static struct super switch synchronized this throw throws try using val "
		 "var when where while yield ",
	 .types = " boolean bool byte char double float int long short string String void Int "
		  "Double Bool Unit Any List Map null nil true false self "},
	{.name = "Python",
	 .endings = " py pyi pyw ",
	 .line = {"#"},
	 .quotes = "\"'",
	 .longs = {"\"\"\"", "'''"},
	 .keywords = " and as assert async await break class continue def del elif else except "
		     "finally for from global if import in is lambda match nonlocal not or pass "
		     "raise return try while with yield case ",
	 .types = " bool bytes dict float int list object set str tuple self cls None True False "},
	{.name = "Ruby",
	 .endings = " rb rake gemspec ",
	 .files = " Rakefile Gemfile ",
	 .line = {"#"},
	 .quotes = "\"'`",
	 .keywords = " alias and begin break case class def defined do else elsif end ensure for "
		     "if in module next not or redo require rescue retry return super then undef "
		     "unless until when while yield attr_reader attr_accessor ",
	 .types = " self nil true false "},
	{.name = "shell",
	 .endings = " sh bash zsh ksh fish bats ",
	 .files = " .bashrc .profile .zshrc .envrc PKGBUILD ",
	 .line = {"#"},
	 .quotes = "\"'`",
	 .keywords = " case do done elif else esac export fi for function if in local readonly "
		     "return select set shift then trap unset until while exit eval exec source ",
	 .types = " true false "},
	{.name = "make",
	 .endings = " mk mak ",
	 .files = " Makefile makefile GNUmakefile ",
	 .line = {"#"},
	 .quotes = "\"'",
	 .keywords = " include ifeq ifneq ifdef ifndef else endif define endef export override "
		     "wildcard patsubst foreach call eval shell .PHONY ",
	 .types = " "},
	{.name = "PHP",
	 .endings = " php ",
	 .line = {"//", "#"},
	 .open = "/*",
	 .close = "*/",
	 .quotes = "\"'",
	 .keywords = " abstract array as break case catch class const continue declare default do "
		     "echo else elseif extends final finally fn for foreach function global if "
		     "implements instanceof interface match namespace new private protected public "
		     "readonly require return static switch throw trait try use var while yield ",
	 .types = " bool float int string void mixed null true false self "},
	{.name = "Lua",
	 .endings = " lua ",
	 .line = {"--"},
	 .open = "--[[",
	 .close = "]]",
	 .quotes = "\"'",
	 .keywords = " and break do else elseif end for function goto if in local not or repeat "
		     "return then until while ",
	 .types = " nil true false self "},
	{.name = "SQL",
	 .endings = " sql ",
	 .line = {"--"},
	 .open = "/*",
	 .close = "*/",
	 .quotes = "\"'",
	 .keywords =
		 " add all alter and as asc begin between by case check column commit "
		 "constraint create cross default delete desc distinct drop else end exists "
		 "foreign from full group having if in index inner insert into is join key left "
		 "like limit not null offset on or order outer primary references returning "
		 "right rollback select set table then transaction trigger union unique update "
		 "using values view when where with ",
	 .types =
		 " bigint blob boolean char date decimal float int integer json jsonb numeric real "
		 "serial text time timestamp uuid varchar ",
	 .folded = true},
	{.name = "CSS",
	 .endings = " css scss less ",
	 .line = {NULL},
	 .open = "/*",
	 .close = "*/",
	 .quotes = "\"'",
	 .keywords = " important media import from to and not only supports keyframes font-face ",
	 .types = " auto none inherit initial block flex grid absolute relative fixed ",
	 .dashed = true},
	{.name = "HTML",
	 .endings = " html htm xml svg xhtml xsd xsl ",
	 .open = "<!--",
	 .close = "-->",
	 .quotes = "\"",
	 .keywords = " html head body div span script style link meta a p ul ol li table tr td th "
		     "form input button img h1 h2 h3 nav section template slot ",
	 .types = " class id href src rel type name value style ",
	 .dashed = true},
	{.name = "JSON",
	 .endings = " json jsonc json5 webmanifest ",
	 .line = {"//"},
	 .open = "/*",
	 .close = "*/",
	 .quotes = "\"",
	 .keywords = " ",
	 .types = " true false null "},
	{.name = "settings",
	 .endings = " yaml yml toml ini cfg conf properties theme keys profile service desktop ",
	 .files = " .gitconfig .editorconfig Dockerfile Containerfile .gitignore .env ",
	 .line = {"#", ";"},
	 .quotes = "\"'",
	 .keywords = " FROM RUN COPY ADD ENV ARG WORKDIR ENTRYPOINT CMD EXPOSE USER VOLUME ",
	 .types = " true false yes no on off null ",
	 .dashed = true},
};

static bool in_list(const char *list, const char *word, size_t len, bool folded)
{
	for (const char *at = list; at && *at; at++) {
		if (*at != ' ' || !at[1])
			continue;
		if ((folded ? strncasecmp(at + 1, word, len) : strncmp(at + 1, word, len)) == 0 &&
		    at[1 + len] == ' ')
			return true;
	}
	return false;
}

const struct syntax *syntax_of(const char *path)
{
	const char *base = path_base(path), *dot = strrchr(base, '.');

	for (size_t i = 0; i < ARRAY_LEN(languages); i++) {
		const struct syntax *l = &languages[i];

		if (*base && in_list(l->files, base, strlen(base), false))
			return l;
		if (dot && dot[1] && in_list(l->endings, dot + 1, strlen(dot + 1), true))
			return l;
	}
	return NULL;
}

/* ---- one line ------------------------------------------------------------------------------- */

struct reader {
	const struct syntax *l;
	const char *text;
	size_t len, at;
	uint8_t *classes;
};

/* States: 0 code, 1 a comment, 2 and more a string of several lines. */
#define STATE_COMMENT 1
#define STATE_LONG    2

static bool sees(const struct reader *r, const char *sign)
{
	size_t n = sign ? strlen(sign) : 0;

	return n && r->len - r->at >= n && memcmp(r->text + r->at, sign, n) == 0;
}

static void mark(struct reader *r, size_t n, enum syntax_class class)
{
	n = MIN(n, r->len - r->at);
	if (r->classes)
		memset(r->classes + r->at, (int)class, n);
	r->at += n;
}

/* Reads up to the end of `end`. Returns whether it was found. */
static bool run_to(struct reader *r, const char *end, bool escapes, enum syntax_class class)
{
	while (r->at < r->len) {
		if (escapes && r->text[r->at] == '\\') {
			mark(r, 2, class);
		} else if (sees(r, end)) {
			mark(r, strlen(end), class);
			return true;
		} else {
			mark(r, 1, class);
		}
	}
	return false;
}

static bool is_word(const struct reader *r, size_t at)
{
	unsigned char c = (unsigned char)r->text[at];

	return isalnum(c) || c == '_' || c == '$' || c >= 0x80 || (r->l->dashed && c == '-');
}

static void read_word(struct reader *r)
{
	size_t n = 0;
	const char *word = r->text + r->at;
	enum syntax_class class = SYNTAX_PLAIN;

	while (r->at + n < r->len && is_word(r, r->at + n))
		n++;
	if (isdigit((unsigned char)*word)) {
		class = SYNTAX_NUMBER;
		if (r->at + n + 1 < r->len && word[n] == '.' && isdigit((unsigned char)word[n + 1]))
			for (n++; r->at + n < r->len && is_word(r, r->at + n); n++)
				;
	} else if (r->classes && n < 24) {
		class = in_list(r->l->keywords, word, n, r->l->folded) ? SYNTAX_KEYWORD
			: in_list(r->l->types, word, n, r->l->folded)  ? SYNTAX_TYPE
								       : SYNTAX_PLAIN;
	}
	mark(r, MAX(n, (size_t)1), class);
}

/* Returns whether a # begins a comment: not in the middle of a word of a shell or setting. */
static bool is_comment(const struct reader *r)
{
	for (size_t i = 0; i < ARRAY_LEN(r->l->line); i++) {
		if (!sees(r, r->l->line[i]))
			continue;
		if (r->l->line[i][1] || r->at == 0 || r->text[r->at - 1] == ' ' ||
		    r->text[r->at - 1] == '\t')
			return true;
	}
	return false;
}

static bool is_directive(const struct reader *r)
{
	if (!r->l->hash || r->text[r->at] != '#')
		return false;
	for (size_t i = 0; i < r->at; i++)
		if (r->text[i] != ' ' && r->text[i] != '\t')
			return false;
	return true;
}

/* Reads one token of code. Returns the state after it. */
static uint8_t read_code(struct reader *r)
{
	char quote[2] = {r->text[r->at], '\0'};

	if (sees(r, r->l->open)) {
		mark(r, strlen(r->l->open), SYNTAX_COMMENT);
		return run_to(r, r->l->close, false, SYNTAX_COMMENT) ? 0 : STATE_COMMENT;
	}
	if (is_comment(r)) {
		mark(r, r->len, SYNTAX_COMMENT);
		return 0;
	}
	for (uint8_t i = 0; i < LONGS; i++) {
		if (!sees(r, r->l->longs[i]))
			continue;
		mark(r, strlen(r->l->longs[i]), SYNTAX_STRING);
		return run_to(r, r->l->longs[i], true, SYNTAX_STRING) ? 0 : STATE_LONG + i;
	}
	if (r->l->quotes && *quote && strchr(r->l->quotes, *quote)) {
		mark(r, 1, SYNTAX_STRING);
		run_to(r, quote, true, SYNTAX_STRING);
		return 0;
	}
	if (is_directive(r)) {
		mark(r, 1, SYNTAX_KEYWORD);
		while (r->at < r->len && isalpha((unsigned char)r->text[r->at]))
			mark(r, 1, SYNTAX_KEYWORD);
		return 0;
	}
	if (is_word(r, r->at))
		read_word(r);
	else
		mark(r, 1, SYNTAX_PLAIN);
	return 0;
}

uint8_t syntax_line(const struct syntax *l, uint8_t state, const char *text, size_t len,
		    uint8_t *classes)
{
	struct reader r = {.l = l, .text = text, .len = len, .classes = classes};

	if (state == STATE_COMMENT && run_to(&r, l->close ? l->close : "", false, SYNTAX_COMMENT))
		state = 0;
	else if (state >= STATE_LONG && state < STATE_LONG + LONGS &&
		 run_to(&r, l->longs[state - STATE_LONG], true, SYNTAX_STRING))
		state = 0;
	while (r.at < len && state == 0)
		state = read_code(&r);
	return state;
}
