/* advice - a table of risky or refused commands and the advice for each; see advice.h. */
/* SPDX-License-Identifier: MIT */
#include "core/hook/advice.h"

#include <errno.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/hook/program.h"
#include "core/hook/shell.h"
#include "core/policy/builtin/hidden.h"
#include "core/policy/policy.h"

struct looking {
	const struct advice_context *context;
	struct advice *advice;
	const struct program *program; /* the current command */
	unsigned depth;		       /* nesting of "bash -c" */
};

static void say(struct looking *l, enum advice_level level, const char *text)
{
	if (level <= l->advice->level)
		return;
	l->advice->level = level;
	snprintf(l->advice->text, sizeof(l->advice->text), "%s", text);
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Makes "~/x", "$HOME/x", "${HOME}/x" and relative paths absolute and clean. Heap; NULL:
 * unknown. */
static char *expand(const char *path, const struct advice_context *c)
{
	static const char *const homes[] = {"~", "$HOME", "${HOME}"};
	AUTO_FREE char *full = NULL;

	for (size_t i = 0; i < ARRAY_LEN(homes); i++) {
		size_t len = strlen(homes[i]);

		if (strncmp(path, homes[i], len) == 0 && (path[len] == '/' || !path[len])) {
			full = xasprintf("%s%s", c->home, path + len);
			return path_clean(full);
		}
	}
	if (*path == '/')
		return path_clean(path);
	if (!c->cwd || *path == '~' || *path == '$')
		return NULL;
	full = path_join(c->cwd, path);
	return path_clean(full);
}

static void say_hidden(struct looking *l, const char *path, const char *which)
{
	bool inside = l->context->inside;
	char shown[128];

	text_escape_into(shown, sizeof(shown), path, strlen(path));
	if (l->advice->level >= ADVICE_STOP)
		return;
	l->advice->level = ADVICE_STOP;
	if (str_eq(which, ".ssh"))
		snprintf(l->advice->text, sizeof(l->advice->text),
			 "%s: SSH keys are not available %s. If git or ssh needs them, ask the "
			 "user%s.",
			 shown, inside ? "in here" : "to agents",
			 inside ? " to start cordon with --ssh-agent 'KEY HOST', or "
				  "--allow-unix '$SSH_AUTH_SOCK'"
				: " to load them into ssh-agent");
	else
		snprintf(l->advice->text, sizeof(l->advice->text),
			 "%s holds credentials and %s. Ask the user for what you need from it.",
			 shown, inside ? "does not exist in here" : "is not for agents");
}

static void look_at_path(struct looking *l, const char *path)
{
	AUTO_FREE char *full = expand(path, l->context);
	const char *below = full ? path_below(full, l->context->home) : NULL;
	const char *which = below ? hidden_builtin(below) : NULL;

	if (which)
		say_hidden(l, path, which);
	else if (policy_name_is_secret(NULL, path_base(path)))
		say(l, ADVICE_STOP,
		    l->context->inside ? "The content of .env files is not readable in here. Use "
					 ".env.example for "
					 "the names, or ask the user for a value."
				       : ".env files hold secrets and are not for agents. Use "
					 ".env.example for the "
					 "names, or ask the user for a value.");
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Returns whether a word is "/", "/usr", the home or a directory above it, also with a slash and a
 * star at its end. */
static bool is_root_or_home(const char *word, const struct advice_context *c)
{
	AUTO_FREE char *full = expand(word, c);
	size_t len;

	if (!full)
		return false;
	len = strlen(full);
	if (len > 2 && str_eq(full + len - 2, "/*"))
		full[len - 2] = '\0';
	if (str_eq(full, "/tmp"))
		return false;
	return !strchr(full + 1, '/') || path_is_beneath(c->home, full);
}

static void rule_rm(struct looking *l)
{
	const struct program *p = l->program;

	for (size_t i = 1; i < p->n; i++) {
		if (*p->argv[i] == '-' || !is_root_or_home(p->argv[i], l->context))
			continue;
		say(l, ADVICE_STOP,
		    "This deletes a whole home or system directory. Name the files in the project "
		    "that "
		    "are to go.");
	}
}

static bool is_forced_push(const struct program *p)
{
	for (size_t i = 2; i < p->n; i++)
		if (str_eq(p->argv[i], "--force") || str_eq(p->argv[i], "--mirror") ||
		    program_has_short(p->argv[i], 'f') || *p->argv[i] == '+')
			return true;
	return false;
}

static bool is_all(const char *word)
{
	return str_eq(word, ".") || str_eq(word, ":/") || str_eq(word, "*");
}

/* Returns whether this git command discards changes that are in no commit. */
static bool is_discarding(const struct program *p, const char *sub)
{
	if (str_eq(sub, "reset"))
		return program_has(p, "--hard");
	if (str_eq(sub, "clean"))
		return program_has(p, "--force") || program_has_flag(p, 'f');
	if (str_eq(sub, "stash"))
		return program_has(p, "drop") || program_has(p, "clear");
	if (str_eq(sub, "checkout") || str_eq(sub, "restore"))
		for (size_t i = 2; i < p->n; i++)
			if (is_all(p->argv[i]) || program_has_short(p->argv[i], 'f'))
				return true;
	return false;
}

static void rule_git(struct looking *l)
{
	const char *sub = program_git_command(l->program);
	bool inside = l->context->inside;

	if (!sub)
		return;
	if (str_eq(sub, "push") && is_forced_push(l->program))
		say(l, inside ? ADVICE_NOTE : ADVICE_ASK,
		    "A forced push rewrites what others may have pulled, and cordon's undo cannot "
		    "take it "
		    "back. Prefer --force-with-lease, and tell the user.");
	else if (is_discarding(l->program, sub))
		say(l, inside ? ADVICE_NOTE : ADVICE_ASK,
		    inside ? "This discards uncommitted changes. cordon's undo has them: the user "
			     "can take "
			     "this step back."
			   : "This discards uncommitted changes, which git cannot bring back.");
}

static void rule_ssh(struct looking *l)
{
	if (l->context->inside && !l->context->ssh_agent)
		say(l, ADVICE_NOTE,
		    "There are no SSH keys in here. If this fails to authenticate, ask the user to "
		    "start "
		    "cordon with --ssh-agent 'KEY HOST', or --allow-unix '$SSH_AUTH_SOCK'.");
}

static void rule_docker(struct looking *l)
{
	if (l->context->inside && !l->context->docker)
		say(l, ADVICE_STOP,
		    "Docker is not reachable in here: its socket gives full access to the machine. "
		    "Run "
		    "the program directly, or ask the user to start cordon with --allow-unix "
		    "/var/run/docker.sock.");
}

static void rule_sudo(struct looking *l)
{
	if (l->context->inside)
		say(l, ADVICE_STOP,
		    "Programs gain no rights in here (no_new_privs), so sudo fails. Do it without, "
		    "for "
		    "instance by installing into the project, or ask the user to do it.");
	else
		say(l, ADVICE_ASK, "This runs with the rights of another user.");
}

static void rule_system(struct looking *l)
{
	say(l, l->context->inside ? ADVICE_STOP : ADVICE_ASK,
	    l->context->inside
		    ? "Services and power of the machine are not reachable in here. Ask the "
		      "user to do it."
		    : "This changes services or power of the whole machine.");
}

static void rule_disk(struct looking *l)
{
	const struct program *p = l->program;

	for (size_t i = 1; i < p->n; i++) {
		const char *to = strncmp(p->argv[i], "of=", 3) == 0 ? p->argv[i] + 3 : p->argv[i];

		if (strncmp(to, "/dev/", 5) == 0 && strncmp(to, "/dev/null", 9) != 0 &&
		    strncmp(p->argv[i], "if=", 3) != 0)
			say(l, ADVICE_STOP, "This writes to a disk of the machine itself.");
	}
}

static void rule_chmod(struct looking *l)
{
	const struct program *p = l->program;

	if (!program_has(p, "--recursive") && !program_has_flag(p, 'R'))
		return;
	for (size_t i = 1; i < p->n; i++)
		if (is_root_or_home(p->argv[i], l->context))
			say(l, ADVICE_STOP,
			    "This changes a whole home or system directory. Name the files in the "
			    "project.");
}

static void rule_cordon(struct looking *l)
{
	static const char *const theirs[] = {"approve", "deny",	  "policy",  "undo",
					     "redo",	"attach", "install", "uninstall"};

	for (size_t i = 0; l->context->inside && i < ARRAY_LEN(theirs); i++)
		if (l->program->n > 1 && str_eq(l->program->argv[1], theirs[i]))
			say(l, ADVICE_STOP,
			    "Only the user answers requests and rolls steps back, outside of here. "
			    "`cordon step begin NAME` and `cordon step end` work in here.");
}

static const struct rule {
	const char *program;
	void (*look)(struct looking *l);
} rules[] = {
	{"rm", rule_rm},
	{"git", rule_git},
	{"ssh", rule_ssh},
	{"scp", rule_ssh},
	{"sftp", rule_ssh},
	{"docker", rule_docker},
	{"podman", rule_docker},
	{"docker-compose", rule_docker},
	{"sudo", rule_sudo},
	{"su", rule_sudo},
	{"doas", rule_sudo},
	{"pkexec", rule_sudo},
	{"systemctl", rule_system},
	{"service", rule_system},
	{"shutdown", rule_system},
	{"reboot", rule_system},
	{"poweroff", rule_system},
	{"halt", rule_system},
	{"dd", rule_disk},
	{"mkfs", rule_disk},
	{"shred", rule_disk},
	{"chmod", rule_chmod},
	{"chown", rule_chmod},
	{"cordon", rule_cordon},
};

/* ---- one command ----------------------------------------------------------------------------- */

/* Returns whether the program reads the files that its operands name. */
static bool reads_operands(const char *name)
{
	static const char *const others[] = {"echo",  "printf",	  "git",  "test",
					     "[",     "export",	  "cd",	  "mkdir",
					     "touch", "gitleaks", "true", "alias"};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (str_eq(name, others[i]))
			return false;
	return true;
}

static void look_at_program(struct looking *l, const struct program *p)
{
	const char *name = p->n > 0 ? path_base(p->argv[0]) : "";

	l->program = p;
	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		if (str_eq(rules[i].program, name) ||
		    (str_eq(rules[i].program, "mkfs") && strncmp(name, "mkfs.", 5) == 0))
			rules[i].look(l);
	for (size_t i = 1; i < p->n && reads_operands(name); i++) {
		const char *value = strchr(p->argv[i], '=');

		if (*p->argv[i] != '-')
			look_at_path(l, p->argv[i]);
		else if (value)
			look_at_path(l, value + 1); /* "--file=.env" */
	}
}

static void look_at_line(struct looking *l, const char *text, size_t len);

static void look_at_words(struct looking *l, const char *const *argv, size_t n)
{
	struct program p;

	for (size_t left = n; left > 0;) {
		const char *script;

		program_of(&p, argv + (n - left), left);
		look_at_program(l, &p);
		script = program_script(&p);
		if (script && l->depth < SHELL_DEPTH_MAX) {
			l->depth++;
			look_at_line(l, script, strlen(script));
			l->depth--;
		}
		left = program_wrapped(&p); /* "timeout 5 rm -rf /": rm is next */
	}
}

static bool is_fetcher(const struct shell_line *line, const struct shell_command *c)
{
	const char *name = c->n_words > 0 ? path_base(line->words[c->word].text) : "";

	return str_eq(name, "curl") || str_eq(name, "wget");
}

static void look_at_command(struct looking *l, const struct shell_line *line, size_t i)
{
	const struct shell_command *c = &line->commands[i];
	const char *argv[256];
	size_t n = MIN(c->n_words, ARRAY_LEN(argv));

	for (size_t k = 0; k < n; k++)
		argv[k] = line->words[c->word + k].text;
	look_at_words(l, argv, n);
	for (size_t k = 0; k < c->n_redirects; k++) {
		const struct shell_redirect *to = &line->redirects[c->redirect + k];

		if (*to->op == '<' && !str_eq(to->op, "<<<") && !str_eq(to->op, "<&"))
			look_at_path(l, to->target.text);
	}
	if (i > 0 && c->piped && n > 0 && program_is_shell(argv[0]) &&
	    is_fetcher(line, &line->commands[i - 1]))
		say(l, l->context->inside ? ADVICE_NOTE : ADVICE_ASK,
		    "This runs what the network sends, unread. Download it, look at it, then run "
		    "it.");
}

static void look_at_line(struct looking *l, const char *text, size_t len)
{
	AUTO_SHELL struct shell_line line = {0};

	if (shell_parse(&line, text, len) == -EINVAL)
		return;
	for (size_t i = 0; i < line.n_commands; i++)
		look_at_command(l, &line, i);
}

/* ---- the calls ------------------------------------------------------------------------------- */

void advise_command(struct advice *ret, const char *line, size_t len,
		    const struct advice_context *c)
{
	struct looking l = {c, ret, NULL, 0};

	*ret = (struct advice){ADVICE_NONE, ""};
	look_at_line(&l, line, len);
}

void advise_argv(struct advice *ret, const char *const *argv, size_t n,
		 const struct advice_context *c)
{
	struct looking l = {c, ret, NULL, 0};

	*ret = (struct advice){ADVICE_NONE, ""};
	look_at_words(&l, argv, n);
}

void advise_path(struct advice *ret, const char *path, const struct advice_context *c)
{
	struct looking l = {c, ret, NULL, 0};

	*ret = (struct advice){ADVICE_NONE, ""};
	look_at_path(&l, path);
}
