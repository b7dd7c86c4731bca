/* test_git_programs - paths that git's settings name are protected, even if they do not exist
 * yet. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <strings.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/policy/git/git_programs.h"
#include "core/policy/policy.h"
#include "tests/support/check.h"

static char dir[] = "/tmp/cordon-programs-XXXXXX";

static int make_folder(void **state)
{
	static const char *const dirs[] = {".git", "tools/bin", "tools/my dir", "src"};
	static const char *const files[] = {"there", "src/a.c", "tools/clean"};
	AUTO_CLOSE int fd = -1;

	(void)state;
	assert_non_null(mkdtemp(dir));
	fd = open(dir, O_PATH | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		assert_int_equal(io_mkdir_p(fd, dirs[i], 0755), 0);
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		assert_int_equal(io_write_file(fd, files[i], 0644, "x", 1, false), 0);
	unsetenv("XDG_CONFIG_HOME");
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return io_remove_tree(AT_FDCWD, dir);
}

/* Returns whether the path is asked about in a repository with this configuration. */
static bool asks(const char *config, const char *place)
{
	const struct policy_spec spec = {.home = "/home/u"};
	AUTO_FREE char *path = path_join(dir, place);
	AUTO_CLOSE int fd = open(dir, O_PATH | O_CLOEXEC);
	struct policy *p = NULL;
	const char *reason;
	bool asked;

	assert_int_equal(io_write_file(fd, ".git/config", 0644, config, strlen(config), false), 0);
	assert_int_equal(policy_new(&p, &spec, NULL), 0);
	policy_learn(p, dir);
	while (policy_learn_more(p))
		;
	asked = policy_check(p, POLICY_WRITE, path, &reason) == POLICY_ASK;
	policy_free(p);
	return asked;
}

TEST(words_are_protected)
{
	static const struct {
		const char *value, *place;
		bool asked;
	} list[] = {
		{"tools/clean", "tools/clean", true},
		{"tools/absent %f", "tools/absent", true},
		{"sh tools/absent.sh", "tools/absent.sh", true},
		{"sh absent", "absent", true},
		{"sh -e -u absent", "absent", true},
		{"python3.12 c.py", "c.py", true},
		{"python3 -m tools.clean", "tools/clean.py", true},
		{"python3 -m tools", "tools/__main__.py", true},
		{"env X=1 tools/pager.sh", "tools/pager.sh", true},
		{"env -i X=1 sh absent", "absent", true},
		{"ssh -F tools/config -v", "tools/config", true},
		{"ssh -Ftools/config", "tools/config", true},
		{"x --config=tools/config", "tools/config", true},
		{"x --config=conf.toml", "conf.toml", true},
		{"PATH=tools/bin:$PATH x", "tools/bin/x", true},
		{"!f() { tools/cred \\\"$@\\\"; }; f", "tools/cred", true},
		{"\\\"tools/my dir/x\\\" %f", "tools/my dir/x", true},
		{"'tools/a b' %f", "tools/a b", true},
		{"tools/a\\\\ b %f", "tools/a b", true},
		{"sh -c 'cd src && sh ../tools/x.sh'", "tools/x.sh", true},
		{"cd src && ./x", "src/x", true},
		{"cd src && sh x", "src/x", true},
		{"cd src && cat a.c", "src/a.c", true},
		{"cd src && cat x", "src/x", false},
		{"cd src; cd sub && ./x", "src/sub/x", true},
		{"cd -P 'my dir' && sh x", "my dir/x", true},
		{"cd src && sh -c 'sh x'", "src/x", true},
		{"cd \\\"$(git rev-parse --show-toplevel)/src\\\" && sh x", "src/x", true},
		{"cd \\\"$(git rev-parse --show-toplevel)\\\" && sh x", "x", true},
		{"echo cd src && sh x", "src/x", false},
		{"make -C src -f x.mk", "src/x.mk", true},
		{"make -Csrc -f x.mk", "src/x.mk", true},
		{"make --directory=src -f x.mk", "src/x.mk", true},
		{"git -C src -c core.pager=./x log", "src/x", true},
		{"env -C src sh x", "src/x", true},
		{"env --chdir src ./x", "src/x", true},
		{"cd /usr && sh x", "x", true}, /* cd may fail */
		{"sh -c 'cat | tools/x'", "tools/x", true},
		{"\\\"$(git rev-parse --show-toplevel)/tools/x\\\"", "tools/x", true},
		{"\\\"$(git rev-parse --show-toplevel)\\\"/tools/x", "tools/x", true},
		{"\\\"$(git -C \\\"$PWD\\\" rev-parse --show-toplevel)\\\"/tools/x", "tools/x",
		 true},
		{"\\\"$(git rev-parse --show-cdup)\\\"tools/x", "tools/x", true},
		{"\\\"`pwd`\\\"/tools/x y", "tools/x", true},
		{"cd \\\"$(git rev-parse --show-toplevel)\\\"/src && sh x", "src/x", true},
		{"\\\"${PWD}/tools/x\\\"", "tools/x", true},
		{"$PWD/tools/x", "tools/x", true},
		{"`pwd`/tools/x", "tools/x", true},
		{"sh tools/*.sh", "tools/x.sh", true},
		{"sh -c '. tools/lib; run'", "tools/lib", true},
		{"x there", "there", true},
		{"less -R", "less", false},
		{"cat src", "src/a.c", false},
		{"cat", "cat", false},
		{"vim", "src/a.c", false},
		{"sh -c 'x .'", "src/a.c", false},
		{"x ./", "src/a.c", false},
		{"x ..", "src/a.c", false},
		{"git-lfs clean -- %f", "clean", false},
		{"/usr/bin/tools/clean", "tools/clean", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		AUTO_FREE char *config =
			xasprintf("[filter \"x\"]\n\tclean = \"%s\" # x\n", list[i].value);

		if (asks(config, list[i].place) != list[i].asked)
			fail_msg("%s: %s", list[i].value, list[i].place);
	}
}

/* Each setting in its own form, with a path after a program or alone. */
TEST(settings_are_known)
{
	static const char *const good[] = {
		"[alias]\n\tx = !sh tools/p\n",
		"[alias]\n\tx = -c core.pager=tools/p log\n",
		"[alias \"x\"]\n\tcommand = !tools/p\n",
		"[core]\n\tfsmonitor = tools/p\n",
		"[core]\n\tsshCommand = \"ssh -F tools/p\"\n",
		"[core]\n\tgitProxy = \\\"tools/p\\\" for example.org\n",
		"[core] pager = tools/p\n",
		"[CORE]\n\tEDITOR = sh \\\n\t\ttools/p\n",
		"[core]\n\taskPass = tools/p ; a comment\n",
		"[core]\n\talternateRefsCommand = tools/p\n",
		"[core]\r\n\tpager = tools/p\r\n",
		"\xef\xbb\xbf[core]\n\tpager = tools/p\n",
		"[credential]\n\thelper = \"!f() { tools/p; }; f\"\n",
		"[credential \"https://x\"]\n\thelper = !tools/p\n",
		"[diff]\n\texternal = tools/p\n",
		"[diff \"x\"]\n\tcommand = tools/p\n",
		"[diff.x]\n\ttextconv = python3 tools/p\n",
		"[difftool \"x\"]\n\tcmd = tools/p\n",
		"[filter \"x\"]\n\tprocess = tools/p\n",
		"[gc]\n\trecentObjectsHook = tools/p\n",
		"[gpg]\n\tprogram = tools/p\n",
		"[gpg \"ssh\"]\n\tprogram = tools/p\n",
		"[gpg \"ssh\"]\n\tdefaultKeyCommand = tools/p\n",
		"[hook \"x\"]\n\tcommand = tools/p\n",
		"[init]\n\ttemplateDir = tools\n",
		"[interactive]\n\tdiffFilter = tools/p\n",
		"[merge \"x\"]\n\tdriver = tools/p %A %B\n",
		"[mergetool \"x\"]\n\tpath = tools/p\n",
		"[pager]\n\tlog = tools/p\n",
		"[remote \"x\"]\n\tuploadpack = tools/p\n",
		"[remote \"x\"]\n\turl = ext::tools/p %S\n",
		"[url \"ext::tools/p \"]\n\tinsteadOf = x:\n",
		"[sendemail]\n\tsendmailCmd = tools/p\n",
		"[sequence]\n\teditor = tools/p\n",
		"[submodule \"x\"]\n\tupdate = !tools/p\n",
		"[tar \"tar.xz\"]\n\tcommand = tools/p -c\n",
		"[trailer \"x\"]\n\tcmd = tools/p\n",
		"[trailer \"x\"]\n\tcommand = sh tools/p\n",
		"[uploadpack]\n\tpackObjectsHook = tools/p\n",
		"[a \"b\nc\"]\nx = [\n= y\n[core]\n\tpager = tools/p\n",
	};
	static const char *const bad[] = {
		"[remote \"x\"]\n\turl = tools/p\n",
		"[alias]\n\tx = diff -- tools/p\n",
		"[core]\n\texcludesFile = tools/p\n",
		"[core]\n# pager = tools/p\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (!asks(good[i], "tools/p"))
			fail_msg("not protected: %s", good[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (asks(bad[i], "tools/p"))
			fail_msg("protected: %s", bad[i]);
}

/* Returns whether git's own list has the key, but it names no program. */
static bool is_other(const char *key)
{
	static const char *const list[] = {
		"advice.*",
		"clean.requireForce",
		"clone.filterSubmodules",
		"column.clean",
		"color.*",
		"commit.cleanup",
		"commit.template",
		"completion.commands",
		"core.fsmonitorHookVersion",
		"core.hooksPath",
		"core.quotePath",
		"credential.useHttpPath",
		"diff.<driver>.cachetextconv",
		"fsck.*",
		"gui.newBranchTemplate",
		"help.htmlPath",
		"http.*",
		"include.path",
		"includeIf.<condition>.path",
		"rebase.updateRefs",
		"receive.*",
		"remote.<name>.partialclonefilter",
		"remote.<name>.proxy",
		"remote.<name>.proxyAuthMethod",
		"remote.<name>.skipDefaultUpdate",
		"rerere.autoUpdate",
		"sendemail.smtpServerOption",
		"sendemail.smtpServerPort",
		"sendemail.smtpsslcertpath",
		"uploadpack.allowFilter",
		"uploadpackfilter.*",
		"diff.<driver>.binary",
		"gitcvs.dbDriver",
		"diff.<driver>.wordRegex",
		"diff.<driver>.xfuncname",
		"merge.<driver>.name",
		"merge.<driver>.recursive",
		"notes.rewrite.<command>",
		"commitGraph.*",
		"rebase.abbreviateCommands",
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		size_t n = strcspn(list[i], "*");

		if (strncmp(key, list[i], n) == 0 && (list[i][n] || !key[n]))
			return true;
	}
	return false;
}

/* Splits "filter.<driver>.clean" into section and name. Returns whether it is known. */
static bool is_known(char *key)
{
	char *name = strrchr(key, '.');

	*name++ = '\0';
	for (char *c = name; *c; c++)
		*c |= *c >= 'A' && *c <= 'Z' ? 0x20 : 0;
	return git_setting_names(key, name) != GIT_NAMES_NOTHING;
}

TEST(documented_settings_are_known)
{
	static const char words[] =
		"^alias|askpass|browser|clean|cmd|command|driver|editor|external|filter|fsmonitor$|"
		"helper|hook|httpd|modulepath|pack$|pager|path$|process|prog|proxy|smtpserver|"
		"smudge|template|textconv|tunnel|update$|vcs";
	FILE *f = popen("git help --config 2>/dev/null", "r");
	char key[256], whole[256];
	unsigned n = 0;
	regex_t r;

	assert_non_null(f);
	assert_int_equal(regcomp(&r, words, REG_EXTENDED | REG_ICASE | REG_NOSUB), 0);
	while (fgets(key, sizeof(key), f)) {
		key[strcspn(key, "\n")] = '\0';
		if (!strchr(key, '.') || strchr(key, ' ') || regexec(&r, key, 0, NULL, 0) != 0 ||
		    is_other(key))
			continue;
		n++;
		snprintf(whole, sizeof(whole), "%s", key);
		if (!is_known(key))
			fail_msg("git has a setting that is not in the table: %s", whole);
	}
	regfree(&r);
	print_message("# %u settings of this machine's git\n", n);
	if (pclose(f) == 0)
		assert_true(n > 20);
}

int main(void)
{
	return run_all(NULL, NULL, make_folder, remove_folder);
}
