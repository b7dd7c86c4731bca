/* policy_cases - what the built-in policy says of many names: for the policy and every floor. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/policy/policy.h"

/* The home is /home/u, the folder /home/u/p; no rules. */
struct policy_case {
	const char *path; /* below /home/u/p/ unless absolute */
	enum policy_act act;
	enum policy_verdict verdict;
};

static const struct policy_case policy_plain_work[] = {
	{"src/main.c", POLICY_WRITE, POLICY_ALLOW},
	{".gitignore", POLICY_WRITE, POLICY_ALLOW},
	{".gitmodules", POLICY_RENAME_TO, POLICY_ALLOW},
	{".github/workflows/ci.yml", POLICY_WRITE, POLICY_ALLOW},
	{"hooks/post-checkout", POLICY_WRITE, POLICY_ALLOW},
	{"config", POLICY_WRITE, POLICY_ALLOW},
	{"head", POLICY_WRITE, POLICY_ALLOW},
	{"héad/naïve.txt", POLICY_WRITE, POLICY_ALLOW},
	{"\xff\xfe.bin", POLICY_WRITE, POLICY_ALLOW},
	{"a~1/b", POLICY_WRITE, POLICY_ALLOW},
	{".vscode/notes.md", POLICY_WRITE, POLICY_ALLOW},
	{".config/app/x", POLICY_WRITE, POLICY_ALLOW},
	{".bashrc", POLICY_META, POLICY_ALLOW},
	{".bashrc", POLICY_REMOVE, POLICY_ALLOW},
	{".envrcs", POLICY_WRITE, POLICY_ALLOW},
	{"x.git.txt", POLICY_WRITE, POLICY_ALLOW},
	{"", POLICY_META, POLICY_ALLOW},
};

static const struct policy_case policy_git_works[] = {
	{".git", POLICY_MKDIR, POLICY_ALLOW},
	{".git/hooks", POLICY_MKDIR, POLICY_ALLOW},
	{".git/hooks/pre-commit.sample", POLICY_WRITE, POLICY_ALLOW},
	{".git/hooks/pre-commit.sample", POLICY_META, POLICY_ALLOW},
	{".git/config.lock", POLICY_WRITE, POLICY_ALLOW},
	{".git/config.lock", POLICY_RENAME_FROM, POLICY_ALLOW},
	{".git/config", POLICY_RENAME_TO, POLICY_VET},
	{".git/config", POLICY_META, POLICY_ALLOW},
	{".git/HEAD.lock", POLICY_RENAME_FROM, POLICY_ALLOW},
	{".git/HEAD", POLICY_RENAME_TO, POLICY_ALLOW},
	{".git/logs/HEAD", POLICY_WRITE, POLICY_ALLOW},
	{".git/refs/remotes/origin/HEAD", POLICY_RENAME_TO, POLICY_ALLOW},
	{".git/logs/refs/remotes/origin/HEAD", POLICY_WRITE, POLICY_ALLOW},
	{".git/refs/heads/config", POLICY_RENAME_TO, POLICY_ALLOW},
	{".git/objects/pack/tmp_pack_1", POLICY_RENAME_FROM, POLICY_ALLOW},
	{".git/objects/pack/pack-1.pack", POLICY_RENAME_TO, POLICY_ALLOW},
	{".git/index.lock", POLICY_WRITE, POLICY_ALLOW},
	{".git/index", POLICY_RENAME_TO, POLICY_VET},
	{".git/logs/refs/.tmp-renamed-log", POLICY_RENAME_FROM, POLICY_ALLOW},
	{".git/modules/m/index.lock", POLICY_RENAME_FROM, POLICY_ALLOW},
	{".git/modules/m/index", POLICY_RENAME_TO, POLICY_VET},
	{".git/modules/m/objects/pack/tmp_pack_1", POLICY_RENAME_FROM, POLICY_ALLOW},
	{".git/modules/m/objects/pack/pack-1.pack", POLICY_RENAME_TO, POLICY_ALLOW},
	{".git/worktrees/w/HEAD", POLICY_RENAME_TO, POLICY_ALLOW},
	{"x.git/HEAD", POLICY_RENAME_TO, POLICY_ALLOW},
	{"x.git/config", POLICY_RENAME_TO, POLICY_VET},
	{"sub/.git/hooks/x", POLICY_REMOVE, POLICY_ALLOW},
	{"sub/.git", POLICY_REMOVE, POLICY_ALLOW},
};

static const struct policy_case policy_git_is_protected[] = {
	{".git/hooks/post-checkout", POLICY_WRITE, POLICY_ASK},
	{".git/hooks/post-checkout", POLICY_RENAME_TO, POLICY_ASK},
	{".git/hooks/post-checkout", POLICY_LINK_FROM, POLICY_ASK},
	{".git/hooks/post-checkout", POLICY_META, POLICY_ASK},
	{"a/b/.git/hooks/x/y", POLICY_WRITE, POLICY_ASK},
	{".git/hooks", POLICY_RENAME_TO, POLICY_ASK},
	{".git/hooks", POLICY_WRITE, POLICY_ASK},
	{".git", POLICY_WRITE, POLICY_VET},
	{".git", POLICY_RENAME_TO, POLICY_VET},
	{".git", POLICY_DIR_TO, POLICY_ASK},
	{".git", POLICY_SYMLINK, POLICY_ASK},
	{".git", POLICY_RENAME_FROM, POLICY_ASK},
	{".git/config", POLICY_WRITE, POLICY_VET},
	{".git/config", POLICY_LINK_FROM, POLICY_ASK},
	{".git/config.worktree", POLICY_RENAME_TO, POLICY_VET},
	{".git/commondir", POLICY_WRITE, POLICY_ASK},
	{".git/modules/a/b/hooks/x", POLICY_WRITE, POLICY_ASK},
	{".git/modules/a/b/config", POLICY_RENAME_TO, POLICY_VET},
	{".git/modules/a", POLICY_RENAME_TO, POLICY_ASK},
	{".git/modules/a", POLICY_RENAME_FROM, POLICY_ASK},
	{".git/modules/a/info/m", POLICY_RENAME_FROM, POLICY_ASK},
	{".git/modules", POLICY_RENAME_FROM, POLICY_ASK},
	{".git/modules/a/x.lock/HEAD", POLICY_WRITE, POLICY_ASK},
	{".git/worktrees/w/commondir", POLICY_WRITE, POLICY_VET},
	{".git/worktrees/w/config.worktree", POLICY_WRITE, POLICY_VET},
	{".git/refs/remotes/x", POLICY_RENAME_FROM, POLICY_ASK},
	{".git/refs", POLICY_RENAME_FROM, POLICY_ASK},
	{".git/logs", POLICY_RENAME_TO, POLICY_ASK},
	{".git/x/HEAD", POLICY_WRITE, POLICY_ASK},
	{".git/refs/remotes/x/y/HEAD", POLICY_WRITE, POLICY_ASK},
	{"plain/HEAD", POLICY_WRITE, POLICY_ASK},
	{"plain/HEAD", POLICY_RENAME_TO, POLICY_ASK},
	{"x.git/hooks/update", POLICY_WRITE, POLICY_ASK},
	{"x.git", POLICY_RENAME_FROM, POLICY_ASK},
};

static const struct policy_case policy_other_names[] = {
	{".bashrc", POLICY_WRITE, POLICY_ASK},
	{"deep/er/.envrc", POLICY_RENAME_TO, POLICY_ASK},
	{".vscode/tasks.json", POLICY_WRITE, POLICY_ASK},
	{".vscode", POLICY_RENAME_TO, POLICY_ASK},
	{".vscode", POLICY_WRITE, POLICY_ASK},
	{".vscode", POLICY_MKDIR, POLICY_ALLOW},
	{".mcp.json", POLICY_WRITE, POLICY_ASK},
	{".claude/settings.json", POLICY_WRITE, POLICY_ASK},
	{".claude/settings.json", POLICY_REMOVE, POLICY_ASK},
	{".claude/hooks/x.sh", POLICY_WRITE, POLICY_ASK},
	{".cordon.conf", POLICY_WRITE, POLICY_ASK},
	{".cordon.conf", POLICY_REMOVE, POLICY_ASK},
	{".cordon.conf", POLICY_RENAME_FROM, POLICY_ASK},
	{".config/fish/config.fish", POLICY_WRITE, POLICY_ASK},
	{".config/fish", POLICY_RENAME_TO, POLICY_ASK},
	{".husky/pre-commit", POLICY_WRITE, POLICY_ASK},
	{".idea/workspace.xml", POLICY_WRITE, POLICY_ASK},
	{"my.code-workspace", POLICY_WRITE, POLICY_ASK},
	{"opencode.json", POLICY_WRITE, POLICY_ASK},
	{".hg/hgrc", POLICY_WRITE, POLICY_ASK},
	{".hg/store/x", POLICY_WRITE, POLICY_ALLOW},
	{".hg/sharedpath", POLICY_WRITE, POLICY_ASK},
	{".dir-locals-2.el", POLICY_WRITE, POLICY_ASK},
	{".pre-commit-config.yaml", POLICY_WRITE, POLICY_ASK},
	{"lefthook.yml", POLICY_RENAME_TO, POLICY_ASK},
	{".lefthook-local.toml", POLICY_WRITE, POLICY_ASK},
	{"LeftHook.yaml", POLICY_WRITE, POLICY_ASK},
	{"lefthook", POLICY_WRITE, POLICY_ALLOW},
	{"lefthooks/x.yml", POLICY_WRITE, POLICY_ALLOW},
	{"mise.toml", POLICY_WRITE, POLICY_ASK},
	{".mise.local.toml", POLICY_WRITE, POLICY_ASK},
	{".direnv/nix-profile-25.05-x.rc", POLICY_WRITE, POLICY_ASK},
	{".direnv/flake-profile-a5d5b61aa8a61b7d9d765e1daf971a9a578f1cfa", POLICY_SYMLINK,
	 POLICY_ASK},
	{".direnv/bin/nix-direnv-reload", POLICY_WRITE, POLICY_ASK},
	{".direnv/python-3.13/lib/x.py", POLICY_WRITE, POLICY_ALLOW},
	{".direnv/python-3.13/bin/ls", POLICY_WRITE, POLICY_ASK},
	{".direnv/python-3.13", POLICY_RENAME_TO, POLICY_ASK},
	{".direnv/python-3.13", POLICY_MKDIR, POLICY_ALLOW},
	{".direnv/python-3.13/lib/bin/x", POLICY_WRITE, POLICY_ALLOW},
	{".mise/config.toml", POLICY_WRITE, POLICY_ASK},
	{".mise/config.work.toml", POLICY_WRITE, POLICY_ASK},
	{"mise", POLICY_WRITE, POLICY_ALLOW},
	{".mise/tasks/build", POLICY_WRITE, POLICY_ALLOW},
	{"hk.pkl", POLICY_WRITE, POLICY_ASK},
	{".clinerules/hooks/PreToolUse", POLICY_WRITE, POLICY_ASK},
	{".clinerules/style.md", POLICY_WRITE, POLICY_ALLOW},
	{".github/copilot/settings.json", POLICY_WRITE, POLICY_ASK},
	{".github/mcp.json", POLICY_WRITE, POLICY_ASK},
	{"prek.toml", POLICY_WRITE, POLICY_ASK},
	{"mise.en.place.a.name.that.is.long.toml", POLICY_WRITE, POLICY_ASK},
	{"crush.json", POLICY_WRITE, POLICY_ASK},
	{".github/hooks/x.json", POLICY_WRITE, POLICY_ASK},
};

static const struct policy_case policy_aliases[] = {
	{".GIT/hooks/x", POLICY_WRITE, POLICY_ASK},
	{".git/Hooks/x", POLICY_WRITE, POLICY_ASK},
	{".g\xe2\x80\x8cit/hooks/x", POLICY_WRITE, POLICY_ASK}, /* zero width non-joiner */
	{".\xef\xbb\xbfgit/hooks/x", POLICY_WRITE, POLICY_ASK}, /* byte order mark */
	{".git/hoo\xe2\x84\xaas/x", POLICY_WRITE, POLICY_ASK},	/* Kelvin sign */
	{".git/hook\xc5\xbf/x", POLICY_WRITE, POLICY_ASK},	/* long s */
	{".ba\xc5\xbfhrc", POLICY_WRITE, POLICY_ASK},		/* the same */
	{"\xef\xbc\x8egit/hooks/x", POLICY_WRITE, POLICY_ASK},	/* full width dot */
	{"git~1/hooks/x", POLICY_WRITE, POLICY_ASK},
	{"GIT~2/config", POLICY_WRITE, POLICY_VET},
	{"BASHRC~1", POLICY_WRITE, POLICY_ASK},
	{".git./hooks/x", POLICY_WRITE, POLICY_ASK},
	{".git /hooks/x", POLICY_WRITE, POLICY_ASK},
	{".git::$INDEX_ALLOCATION/hooks/x", POLICY_WRITE, POLICY_ASK},
	{".EnvRC", POLICY_WRITE, POLICY_ASK},
	{".CLAUDE/settings.json", POLICY_WRITE, POLICY_ASK},
};

static const struct policy_case policy_secrets[] = {
	{".env", POLICY_WRITE, POLICY_HIDE},
	{"a/.env.local", POLICY_WRITE, POLICY_HIDE},
	{"a/.ENV", POLICY_WRITE, POLICY_HIDE},
	{".env", POLICY_MKDIR, POLICY_ALLOW},
	{".env/bin/python", POLICY_WRITE, POLICY_ALLOW},
	{".env.example", POLICY_WRITE, POLICY_ALLOW},
	{".env.local.sample", POLICY_WRITE, POLICY_ALLOW},
	{".environment", POLICY_WRITE, POLICY_ALLOW},
	{"/home/u/.ssh/id_rsa", POLICY_WRITE, POLICY_HIDE},
	{"/home/u/.ssh", POLICY_RENAME_FROM, POLICY_HIDE},
	{"/home/u", POLICY_RENAME_FROM, POLICY_HIDE},
	{"/home/u/.config", POLICY_RENAME_FROM, POLICY_HIDE},
	{"/home/u/.local/state/cordon/x", POLICY_WRITE, POLICY_HIDE},
	{"/home/u/snap/firefox/x", POLICY_WRITE, POLICY_HIDE},
	{"/home/u/.sshx", POLICY_WRITE, POLICY_ALLOW},
	{"sub/.cordon", POLICY_MKDIR, POLICY_HIDE},
	{"sub/.Cordon/version", POLICY_WRITE, POLICY_HIDE},
	{".cordonx", POLICY_WRITE, POLICY_ALLOW},
};

/* Of policy_check_outside(). */
static const struct policy_case policy_outside[] = {
	{"/etc/passwd", POLICY_WRITE, POLICY_DENY},    {"/usr/bin/x", POLICY_WRITE, POLICY_DENY},
	{"/newdir", POLICY_WRITE, POLICY_DENY},	       {"/home/u/notes", POLICY_WRITE, POLICY_ASK},
	{"/home/u/.ssh/x", POLICY_WRITE, POLICY_HIDE}, {"/srv/data/x", POLICY_WRITE, POLICY_ASK},
	{"/root/x", POLICY_WRITE, POLICY_DENY},	       {"/var/lib/x", POLICY_WRITE, POLICY_DENY},
};
