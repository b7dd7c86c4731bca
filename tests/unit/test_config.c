/* test_config - levels, origins, which keys a project may set, bad input. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/builtin.h"
#include "core/base/io.h"
#include "core/config/config_priv.h"
#include "tests/support/check.h"

struct place {
	char dir[64];
	char home[96], folder[96], org[96];
	struct config_spec spec;
	struct config *c;
	struct err err;
};

static void put(const char *dir, const char *name, mode_t mode, const char *text)
{
	AUTO_CLOSE int fd = open(dir, O_PATH | O_CLOEXEC);

	assert_int_equal(io_write_file(fd, name, 0600, text, strlen(text), false), 0);
	assert_int_equal(fchmodat(fd, name, mode, 0), 0);
}

static int setup(void **state)
{
	struct place *p = xcalloc(1, sizeof(*p));

	snprintf(p->dir, sizeof(p->dir), "/tmp/cordon-config-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->home, sizeof(p->home), "%s/home", p->dir);
	snprintf(p->folder, sizeof(p->folder), "%s/home/work", p->dir);
	snprintf(p->org, sizeof(p->org), "%s/org", p->dir);
	assert_int_equal(io_mkdir_p(AT_FDCWD, p->folder, 0755), 0);
	p->spec = (struct config_spec){.home = p->home, .folder = p->folder, .org_file = p->org};
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	config_free(p->c);
	assert_int_equal(io_remove_tree(AT_FDCWD, p->dir), 0);
	free(p);
	return 0;
}

static void user_config(struct place *p, mode_t mode, const char *text)
{
	char dir[128];

	snprintf(dir, sizeof(dir), "%s/.config/cordon", p->home);
	assert_int_equal(io_mkdir_p(AT_FDCWD, dir, 0755), 0);
	put(dir, "config", mode, text);
}

static void load(struct place *p)
{
	int r = config_load(&p->c, &p->spec, &p->err);

	if (r < 0)
		print_message("# %s\n", p->err.text);
	assert_int_equal(r, 0);
}

/* Checks that loading fails, with these words in the message. */
static void refuses(struct place *p, const char *words)
{
	assert_int_equal(config_load(&p->c, &p->spec, &p->err), -EINVAL);
	if (!strstr(p->err.text, words))
		fail_msg("'%s' lacks '%s'", p->err.text, words);
}

TEST(built_in)
{
	struct place *p = *state;
	const char *const *list;

	load(p);
	assert_string_equal(config_str(p->c, "sandbox.backend"), "native");
	assert_true(config_bool(p->c, "sandbox.debug"));
	assert_string_equal(config_str(p->c, "network.mode"), "ask");
	assert_null(config_str(p->c, "sandbox.memory"));
	assert_int_equal(config_int(p->c, "sandbox.memory"), 0);
	assert_int_equal(config_list(p->c, "sandbox.rw", &list), 0);
	assert_string_equal(config_origin(p->c, "sandbox.backend"), "built in");
}

/* Version 0.1 had this setting: the file is read, and the setting is reported. */
TEST(a_setting_that_was_removed)
{
	struct place *p = *state;

	user_config(p, 0600, "[ui]\n\ttheme = dark\n[journal]\n\tdurable = true\n");
	load(p);
	assert_string_equal(config_str(p->c, "ui.theme"), "dark");
	if (!strstr(config_ignored(p->c), "/config:4: journal.durable"))
		fail_msg("'%s'", config_ignored(p->c));
}

TEST(levels)
{
	struct place *p = *state;
	const char *const settings[] = {"sandbox.processes=7", "ui.mouse", NULL};
	const char *const *list;
	char file[128], origin[160];

	if (geteuid() != 0) /* the organisation's file must belong to root */
		return;
	put(p->dir, "org", 0644, "[sandbox]\n\tprocesses = 1\n\tmemory = 2g\n\tenv = A\n");
	user_config(p, 0644, "# mine\n[ui]\nmouse = off\n[Sandbox]\n  ENV = B\n  env = C ; x\n");
	put(p->dir, "extra", 0600, "[sandbox] processes = 3\n[ui]\n\ttheme = \"my # theme\"\n");
	snprintf(file, sizeof(file), "%s/extra", p->dir);
	p->spec.file = file;
	p->spec.settings = settings;
	load(p);
	assert_int_equal(config_int(p->c, "sandbox.processes"), 7);
	assert_string_equal(config_origin(p->c, "sandbox.processes"), "--set");
	assert_int_equal(config_int(p->c, "sandbox.memory"), 2LL << 30);
	snprintf(origin, sizeof(origin), "%s:3", p->org);
	assert_string_equal(config_origin(p->c, "sandbox.memory"), origin);
	assert_true(config_bool(p->c, "ui.mouse"));
	assert_string_equal(config_str(p->c, "ui.theme"), "my # theme");
	assert_int_equal(config_list(p->c, "sandbox.env", &list), 3);
	assert_string_equal(list[0], "A");
	assert_string_equal(list[2], "C");
	snprintf(origin, sizeof(origin), "%s/.config/cordon/config:6", p->home);
	assert_string_equal(config_origin(p->c, "sandbox.env"), origin);
}

TEST(paths)
{
	struct place *p = *state;
	const char *const *list;
	char want[160];

	user_config(p, 0644, "[sandbox]\nhide = ~/x/../y/\n");
	put(p->folder, ".cordon.conf", 0644, "[sandbox]\nhide = secrets\n[network]\nmode = none\n");
	load(p);
	assert_int_equal(config_list(p->c, "sandbox.hide", &list), 2);
	snprintf(want, sizeof(want), "%s/y", p->home);
	assert_string_equal(list[0], want);
	snprintf(want, sizeof(want), "%s/secrets", p->folder);
	assert_string_equal(list[1], want);
}

TEST(project_only_tightens)
{
	static const char *const loosening[] = {
		"[network]\nmode = open\n",	 "[sandbox]\nrw = /etc\n",
		"[sandbox]\nlandlock = false\n", "[sandbox]\nenv = AWS_SECRET\n",
		"[sandbox]\npreset = default\n", "[ui]\nkeymap = x\n",
		"[sandbox]\nhide = /usr\n",	 "[sandbox]\nhide = ..\n",
		"[sandbox]\nhide = .\n",
	};
	struct place *p = *state;

	for (size_t i = 0; i < ARRAY_LEN(loosening); i++) {
		put(p->folder, ".cordon.conf", 0644, loosening[i]);
		refuses(p, ".cordon.conf:2: a file in the working folder may not");
	}
	put(p->folder, ".cordon.conf", 0644, "[sandbox]\npreset = strict\ndebug = no\n");
	load(p);
	assert_string_equal(config_str(p->c, "sandbox.preset"), "strict");
}

TEST(project_link_is_not_followed)
{
	struct place *p = *state;
	char link[160];

	snprintf(link, sizeof(link), "%s/.cordon.conf", p->folder);
	assert_int_equal(symlink("/etc/passwd", link), 0);
	assert_int_equal(config_load(&p->c, &p->spec, &p->err), -ELOOP);
}

/* The forms that the manual shows. */
TEST(good_forms)
{
	struct place *p = *state;

	user_config(p, 0644,
		    "[sandbox]\nenv = npm_config_//x/:_auth\nset-env = A=\nset-env = A=b=c d\n"
		    "tool-home = ~/.cache/ X=$CORDON_CACHE/x\ntool-home = /opt/x\n"
		    "tool-home = ~/.x +X=$CORDON_CACHE/x\nsettings-variable = XDG_CONFIG_HOME/x\n"
		    "own-settings = claude\nown-settings = claude 1a\nsearch-seconds = 0\n"
		    "env = \303\204PFEL\n[approval]\ntimeout = 999999999\nremember = 999999999\n"
		    "command-timeout = 999999999\n[undo]\nwatched-directories = 0\n"
		    "[commit]\nco-author = \303\200 Claude Code <noreply@example.org>\n"
		    "[network]\nbytes = *.example.com:443 1g\nlistening-loopback = 127.0.0.2\n"
		    "secret = KEY, api.example.com, x-api-key, pass show api\n"
		    "[ssh]\nagent = work@laptop github.com unbound\n"
		    "[record]\nredact = \"k[a-z]+|x\"\n[worktree]\ncopy = web/*.cache\ncopy = "
		    "target/\n");
	load(p);
}

/* The file of a working folder cannot make the check of a form work: here a huge expression. */
TEST(forms_of_a_stranger)
{
	struct place *p = *state;

	put(p->folder, ".cordon.conf", 0644, "[record]\nredact = (\n");
	refuses(p, "a file in the working folder may not set record.redact");
}

TEST(bad_input)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{"[sandbox]\nbakend = x\n", "config:2: unknown key sandbox.bakend: did you mean "
					    "sandbox.backend?"},
		{"[sandbx]\nmemory = 1\n", "config:2: unknown key sandbx.memory: did you mean "
					   "sandbox.memory?"},
		{"[undo]\nkeep = 5\n",
		 "config:2: unknown key undo.keep: man cordon-config lists them"},
		{"[agent]\nprompts = foo\n",
		 "config:2: bad value 'foo' for agent.prompts: own|cordon"},
		{"[agent]\nprompts = claude  both\n", "for agent.prompts: own|cordon"},
		{"[agent]\nprompts = claude cordon own\n", "for agent.prompts: own|cordon"},
		{"[agent]\nprompts = clode cordon\n", "config:2: bad value 'clode cordon' for "
						      "agent.prompts: profile 'clode': there is "},
		{"[agent]\nprompts = ../x cordon\n", "profile '../x': there is none"},
		{"[sandbox]\nmemory = 2\n",
		 "config:2: bad value '2' for sandbox.memory: say 0, or a number from 1m up"},
		{"[sandbox]\nopen-files = 63\n", "say 0, or a number from 64 up"},
		{"[sandbox]\nmemory = lots\n", "config:2: bad value 'lots'"},
		{"[sandbox]\nmemory = 99999999999g\n", "bad value"},
		{"[sandbox]\nmemory = -1\n", "bad value"},
		{"[sandbox]\nmemory\n", "config:2: sandbox.memory needs a value"},
		{"[sandbox]\npreset = loose\n", "default|strict"},
		{"[sandbox]\nrw = relative\n", "config:2: bad value"},
		{"[sandbox]\n\n\n[sandbox\n", "config:4: not in git-config syntax"},
		{"[include]\npath = /etc/x\n", "config:1: [include]"},
		{"[ui] [ \tInClUdEiF \"gitdir:/\"]\npath = x\n", "config:1: [include]"},
		{"[sandbox \"sub\"]\nmemory = 1\n", "unknown key sandbox.sub.memory"},
		{"# mine\n\nprefix = C-g\n[ui]\nmouse = on\n",
		 "config:3: unknown key prefix before any [section]: did you mean ui.prefix?"},
		{"allow = read ~/**\n[rule \"x\"]\nallow = read ~/x\n",
		 "config:1: a rule needs a name of at most 200 bytes: write [rule \"name\"]"},
		{"frob = 1\n",
		 "config:1: unknown key frob before any [section]: man cordon-config lists"},
		{"debug [ui]\nmouse = on\n", "config:1: not in git-config syntax"},
		{"\n[sandbox]\nenv = A=B\n",
		 "config:3: bad value 'A=B' for sandbox.env: say a name"},
		{"[sandbox]\nset-env = A\n", "for sandbox.set-env: say NAME=VALUE"},
		{"[sandbox]\nset-env = A B=c\n", "for sandbox.set-env: say NAME=VALUE"},
		{"[sandbox]\ntool-home = .cargo\n",
		 "config:2: bad value '.cargo' for sandbox.tool-home: say a directory below ~/"},
		{"[sandbox]\ntool-home = ~/\n", "for sandbox.tool-home"},
		{"[sandbox]\ntool-home = ~/.x X_HOME\n", "behind the directory say NAME=VALUE"},
		{"[sandbox]\nsettings-variable = X/../y\n", "BELOW must be the name of one"},
		{"[sandbox]\nsettings-variable = x\n", "for sandbox.settings-variable: say NAME"},
		{"[sandbox]\nown-settings = claude work\n",
		 "config:2: bad value 'claude work' for sandbox.own-settings: the name of the "
		 "copy"},
		{"[sandbox]\nown-settings = a/b 1\n", "say the name of a profile first"},
		{"[commit]\nco-author = Claude\n",
		 "config:2: bad value 'Claude' for commit.co-author: say NAME <ADDRESS>"},
		{"[commit]\nco-author = \"A <a@x>\\nSigned-off-by: B <b@x>\"\n", "say NAME <"},
		{"[commit]\nco-author = <a@x>\n", "say NAME <ADDRESS>"},
		{"[network]\nbytes = x\n",
		 "config:2: bad value 'x' for network.bytes: say HOST SIZE"},
		{"[network]\nsecret = x\n", "for network.secret: say NAME, HOST, HEADER, COMMAND"},
		{"[network]\nlistening-loopback = 8.8.8.8\n", "like 127.0.0.2"},
		{"[network]\nlistening-base-port = 65536\n", "say a number from 0 to 65535"},
		{"[network]\nlistening-port-count = 0\n", "say a number from 1 to 65535"},
		{"[ssh]\nagent = work\n", "config:2: bad value 'work' for ssh.agent: no host"},
		{"[record]\nredact = (\n",
		 "config:2: bad value '(' for record.redact: not a regular"},
		{"[worktree]\ncopy = /x\n", "begins in the working folder"},
		{"[approval]\ntimeout = 4g\n", "config:2: bad value '4g' for approval.timeout: say "
					       "a number from 0 to 4294967295"},
	};
	struct place *p = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		user_config(p, 0644, cases[i].text);
		refuses(p, cases[i].words);
	}
	user_config(p, 0666, "[ui]\nmouse = on\n");
	refuses(p, "everybody may write");
}

static int count(void *data, const struct config_setting *s)
{
	(void)s;
	++*(int *)data;
	return 0;
}

/* Text that only libgit2 can parse is left to it. */
static int read_plain(const char *text, int *n)
{
	AUTO_FREE char *copy = xstrdup(text);
	int r = config_read_plain(copy, count, n);

	if (r < 0)
		assert_string_equal(copy, text);
	return r;
}

/* Text that is not plain goes to libgit2 as a whole, not in part. */
TEST(plain_or_not)
{
	static const char *const unusual[] = {
		"[ui]\n\tmouse = on\n\ttheme = \"x\"\n",
		"[ui]\nmouse = on\n[a \"b\\\"\"]\n",
		"[ui]\nmouse = on\n[a \"\"]\n",
		"[ui]\nmouse = on\n[a b]\n",
		"[ui]\nmouse = on # no\n",
		"[ui] mouse = on\n",
		"[ui]\nmouse = o\\\nn\n",
		"[ui]\r\nmouse = on\r\n",
		"mouse = on\n",
		"[ui]\nmouse =\n",
		"[ui]\nmouse on\n",
		"[ui]\n1mouse = on\n",
	};
	int n = 0;

	for (size_t i = 0; i < ARRAY_LEN(unusual); i++)
		assert_int_equal(read_plain(unusual[i], &n), -ENOTSUP);
	for (int c = 1; c < 256; c++) {
		char text[] = "[ui]\nmouse = o?n\n";

		*strchr(text, '?') = (char)c;
		n = 0;
		if (read_plain(text, &n) !=
			    (strchr("\"#;\\", c) || c < ' ' || c == 127 ? -ENOTSUP : 0) &&
		    c != '\n')
			fail_msg("a byte %d", c);
	}
	n = 0;
	assert_int_equal(read_plain("# x \n\n[UI]\n\tMouse = on\n  ascii\n", &n), 0);
	assert_int_equal(n, 2);
}

static int tell(void *data, const struct config_setting *s)
{
	buf_fmt(data, "%d %s.%s%s%s;", s->line, s->section, s->name, s->value ? "=" : "",
		s->value ? s->value : "");
	return 0;
}

/* A line that begins like the one before is parsed only from the difference on. */
TEST(plain_alike)
{
	static const struct {
		const char *lines, *told;
	} list[] = {
		{"B = 1\nB = 2\nB = 33\n", "2 a.b=1;3 a.b=2;4 a.b=33;"},
		{"b = 1\nb =  2\nb = 3 \nb =4\n", "2 a.b=1;3 a.b=2;4 a.b=3;5 a.b=4;"},
		{"b =1\nb = 2\nb =3\n", "2 a.b=1;3 a.b=2;4 a.b=3;"},
		{"b = 1\nb\nb = 2\nb = 3\n", "2 a.b=1;3 a.b;4 a.b=2;5 a.b=3;"},
		{"b = 1\nbc = 2\nb = = 3\n", "2 a.b=1;3 a.bc=2;4 a.b== 3;"},
		{"b = 1\n[c]\nb = 2\nb = 3\nd = 4\n", "2 a.b=1;4 c.b=2;5 c.b=3;6 c.d=4;"},
		{"b = 1\n# b = 2\n\nb = 3\n\tb = 4\n", "2 a.b=1;5 a.b=3;6 a.b=4;"},
		{"\tb = 1\n\tB = 2\n\tb = 3", "2 a.b=1;3 a.b=2;4 a.b=3;"},
		{"b = 1\nb = \n", NULL},
		{"b = 1\nb = 2 # x\n", NULL},
		{"b = 1\nb = \"2\n", NULL},
		{"b = 1\nb = 2\n2b = 1\n", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		AUTO_FREE char *text = xasprintf("[a]\n%s", list[i].lines);
		AUTO_BUF struct buf told = BUF_INIT;
		int r = config_read_plain(text, tell, &told);

		if (r != (list[i].told ? 0 : -ENOTSUP) ||
		    (list[i].told && strcmp(told.data, list[i].told) != 0))
			fail_msg("%s: %s", list[i].lines, told.data);
	}
}

/* The whole text is checked first. */
TEST(plain_anywhere)
{
	static const char line[] = "\tmouse = on\n", comment[] = "# a \"b\" ; c\n";
	const size_t lines = 16, len = strlen(line);
	int n;

	for (int c = 1; c < 256; c++)
		for (size_t at = 0; at < lines; at++) {
			AUTO_BUF struct buf b = BUF_INIT;
			bool good = !strchr("\"#;\\", c) && c >= ' ' && c != 127;

			buf_str(&b, comment);
			buf_str(&b, "[ui]\n");
			for (size_t i = 0; i < lines; i++)
				buf_str(&b, line);
			b.data[b.len - at * len - 2] = (char)c;
			buf_str(&b, comment);
			n = 0;
			if (c != '\n' && read_plain(b.data, &n) != (good ? 0 : -ENOTSUP))
				fail_msg("a byte %d, %zu lines before the end", c, at);
			assert_int_equal(n, c != '\n' && good ? lines : 0);
		}
	assert_int_equal(read_plain("[ui]\n\t\tmouse = on\n", &n), 0);
	assert_int_equal(read_plain("\t[ui]\n \tmouse = on\n\t \t# x\n", &n), 0);
	assert_int_equal(read_plain("[ui]\nmouse = on\t\n", &n), -ENOTSUP);
	assert_int_equal(read_plain("# x\ty\n", &n), -ENOTSUP);
}

/* They are read at each start, so they must be plain; after a `;` the rest of a line is cut off. */
TEST(shipped_profiles_are_plain)
{
	int n = 0;

	for (const struct builtin_file *f = builtin_files; f->name; f++)
		if (str_ends(f->name, ".profile") && read_plain(f->text, &n) != 0)
			fail_msg("%s", f->name);
	assert_true(n > 0);
}

TEST(missing_option_file)
{
	struct place *p = *state;

	p->spec.file = "/nonexistent/cordon";
	assert_int_equal(config_load(&p->c, &p->spec, &p->err), -ENOENT);
	assert_non_null(strstr(p->err.text, "/nonexistent/cordon"));
}

TESTS(setup, teardown)
