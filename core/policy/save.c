/* save - writes an answer as a rule to the settings of the user, a project or an organisation. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/policy_priv.h"

#define FILE_MAX (1u << 20) /* the largest file that the configuration reads */

/* Appends a value in double quotes, as in git's files. */
static void quote_value(struct buf *b, const char *s)
{
	buf_ch(b, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_ch(b, '\\');
		if (*s == '\n' || *s == '\t' || *s == '\b')
			buf_fmt(b, "\\%c", *s == '\n' ? 'n' : *s == '\t' ? 't' : 'b');
		else
			buf_ch(b, *s);
	}
	buf_ch(b, '"');
}

void rules_line(struct buf *b, const char *key, const char *value)
{
	buf_fmt(b, "\t%s = ", key);
	if (strpbrk(value, "\"\\#;\n\t\b") || str_ends(value, " "))
		quote_value(b, value);
	else
		buf_str(b, value);
	buf_ch(b, '\n');
}

/* Writes the section below its name. */
static void format_body(struct buf *b, enum rule_kind kind, const char *path,
			const struct answer *a)
{
	/* A program that may be run may be read: interpreters read scripts. */
	const char *kinds = kind == RULE_EXEC && a->allow ? "read,exec" : rule_kind_words[kind];
	char *patterns[2], until[32];
	time_t t = (time_t)a->until;
	struct tm tm;

	if (a->extent == EXTENT_BUNDLE) { /* path is the bundle's name */
		buf_str(b, "[bundle]\n");
		rules_line(b, "allow", path);
		return;
	}
	if (kind >= RULE_PLACES)
		answer_host_patterns(path, a->extent, patterns);
	else
		answer_patterns(path, a->extent, patterns);
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		AUTO_FREE char *pattern = patterns[i];
		AUTO_FREE char *value = pattern ? xasprintf("%s %s", kinds, pattern) : NULL;

		if (value)
			rules_line(b, a->allow ? "allow" : "deny", value);
	}
	if (!a->until)
		return;
	localtime_r(&t, &tm);
	strftime(until, sizeof(until), "%Y-%m-%d %H:%M:%S", &tm);
	rules_line(b, "until", until);
}

static char *file_of(const struct rules_place *where, enum answer_scope scope)
{
	if (scope == SCOPE_ORG)
		return xstrdup(where->org_file ? where->org_file : "/etc/cordon/config");
	if (scope == SCOPE_PROJECT)
		return config_project_file(where->home, where->config_home, where->folder);
	return where->config_home && *where->config_home
		       ? path_join(where->config_home, "cordon/config")
		       : path_join(where->home, ".config/cordon/config");
}

/* Returns the target of a link, so that the link stays and its target is replaced. */
static char *resolve(char *path)
{
	char *real = realpath(path, NULL);

	if (!real)
		return path;
	free(path);
	return real;
}

/* Refuses control characters that git's files cannot express. */
static int check_path(const char *path, struct err *err)
{
	for (const char *c = path; *c; c++)
		if ((unsigned char)*c < ' ' && !strchr("\n\t\b", *c))
			return err_say(err, -EINVAL,
				       "remember '%s': its name holds a control character: answer "
				       "for the session",
				       path);
	return 0;
}

/* Opens the file's directory, and makes it if needed. */
static int open_dir(const char *file, mode_t mode, struct err *err)
{
	AUTO_FREE char *dir = xstrndup(file, (size_t)(strrchr(file, '/') - file));
	int r = io_mkdir_p(AT_FDCWD, dir, mode);
	int fd;

	if (r < 0)
		return err_set(err, r, "make '%s'", dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_set(err, -errno, "open '%s'", dir) : fd;
}

/* Names are unique; otherwise one `until` would apply to two answers. */
#define SECTION "[rule \"answer of "

static int append(struct buf *text, const struct buf *body)
{
	char when[32];

	clock_iso(when, clock_wall_us());
	if (text->len && text->data[text->len - 1] != '\n')
		buf_ch(text, '\n');
	buf_fmt(text, SECTION "%s\"]\n", when);
	buf_add(text, body->data, body->len);
	return 0;
}

/* Removes the last section that has exactly this body. */
static int take_out(struct buf *text, const struct buf *body)
{
	char *found = NULL, *end = NULL;

	for (char *at = text->data; (at = strstr(at, SECTION)); at++) {
		char *below = strchr(at, '\n');

		if (!below || (at > text->data && at[-1] != '\n') ||
		    strncmp(below + 1, body->data, body->len) != 0)
			continue;
		below += 1 + body->len;
		if (*below && *below != '[')
			continue;
		found = at;
		end = below;
	}
	if (!found)
		return -ENOENT;
	memmove(found, end, strlen(end) + 1);
	buf_truncate(text, text->len - (size_t)(end - found));
	return 0;
}

static int append_bundle(struct buf *text, const struct buf *body)
{
	if (text->len && text->data[text->len - 1] != '\n')
		buf_ch(text, '\n');
	buf_add(text, body->data, body->len);
	return 0;
}

/* Removes the last section that has exactly this setting of a bundle. */
static int take_out_bundle(struct buf *text, const struct buf *body)
{
	char *found = NULL, *end;

	for (char *at = text->data; (at = strstr(at, body->data)); at++) {
		end = at + body->len;
		if ((at == text->data || at[-1] == '\n') && (!*end || *end == '['))
			found = at;
	}
	if (!found)
		return -ENOENT;
	end = found + body->len;
	memmove(found, end, strlen(end) + 1);
	buf_truncate(text, text->len - body->len);
	return 0;
}

/* Removes the section with this name, if an answer wrote it and it was not edited. */
static int take_out_named(struct buf *text, const struct buf *name)
{
	static const char *const keys[] = {"\tallow = ", "\tdeny = ", "\tuntil = "};
	AUTO_FREE char *head = xasprintf("[rule \"%s\"]\n", name->data);
	char *at = text->data, *end;

	if (!str_starts(head, SECTION))
		return -ENOENT;
	while ((at = strstr(at, head)) && at > text->data && at[-1] != '\n')
		at++;
	if (!at)
		return -ENOENT;
	end = at + strlen(head);
	while (*end && *end != '[') {
		size_t k = 0;

		while (k < ARRAY_LEN(keys) && !str_starts(end, keys[k]))
			k++;
		if (k == ARRAY_LEN(keys) || !strchr(end, '\n'))
			return -ENOENT;
		end = strchr(end, '\n') + 1;
	}
	memmove(at, end, strlen(end) + 1);
	buf_truncate(text, text->len - (size_t)(end - at));
	return 0;
}

/* Edits the file under a lock of its directory, because two sessions may write at once. */
static int change(const char *file, mode_t mode,
		  int (*edit)(struct buf *text, const struct buf *what), const struct buf *what,
		  struct err *err)
{
	AUTO_CLOSE int dir = open_dir(file, mode | (mode & 0444) >> 2, err);
	AUTO_BUF struct buf b = BUF_INIT;
	AUTO_FREE char *text = NULL;
	const char *name = path_base(file);
	size_t len = 0;
	struct stat st;
	int r;

	if (dir < 0)
		return dir;
	r = io_lock(dir);
	if (r == 0)
		r = io_read_file(dir, name, FILE_MAX, &text, &len);
	if (r < 0 && r != -ENOENT)
		return err_set(err, r, "settings in '%s'", file);
	if (r == 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		mode = st.st_mode & 07777;
	buf_add(&b, text ? text : "", len);
	if (edit(&b, what) < 0)
		return err_say(err, -ENOENT, "'%s': no such answer in it: it was edited", file);
	if (b.len > FILE_MAX)
		return err_say(err, -EFBIG,
			       "'%s': it would be larger than 1 MiB: take old rules out", file);
	r = io_write_file(dir, name, mode, b.data, b.len, true);
	return r < 0 ? err_set(err, r, "settings in '%s'", file) : 0;
}

static int change_answer(const struct rules_place *where, enum answer_scope scope,
			 enum rule_kind kind, const char *path, const struct answer *a, bool add,
			 struct err *err)
{
	bool bundle = a->extent == EXTENT_BUNDLE;
	AUTO_BUF struct buf body = BUF_INIT;
	AUTO_FREE char *file = NULL;
	int r;

	if (scope < SCOPE_PROJECT || (scope == SCOPE_PROJECT && !where->folder))
		return err_say(err, -EINVAL, "remember it: there is no file for this scope");
	r = check_path(path, err);
	if (r < 0)
		return r;
	file = resolve(file_of(where, scope));
	format_body(&body, kind, path, a);
	r = change(file, scope == SCOPE_ORG ? 0644 : 0600,
		   bundle ? (add ? append_bundle : take_out_bundle) : (add ? append : take_out),
		   &body, err);
	return r < 0 ? err_wrap(err, r, add ? "remember it" : "forget it") : 0;
}

int rules_save(const struct rules_place *where, enum answer_scope scope, enum rule_kind kind,
	       const char *path, const struct answer *a, struct err *err)
{
	return change_answer(where, scope, kind, path, a, true, err);
}

int rules_forget(const struct rules_place *where, enum answer_scope scope, enum rule_kind kind,
		 const char *path, const struct answer *a, struct err *err)
{
	return change_answer(where, scope, kind, path, a, false, err);
}

int rules_save_lines(const struct rules_place *where, const struct buf *lines, char **ret_file,
		     struct err *err)
{
	AUTO_FREE char *file = resolve(file_of(where, SCOPE_USER));
	int r = change(file, 0600, append, lines, err);

	if (r < 0)
		return err_wrap(err, r, "write the rules");
	*ret_file = take_ptr(&file);
	return 0;
}

bool rules_is_answer(const char *name)
{
	return name && str_starts(name, &SECTION[strlen("[rule \"")]);
}

int rules_forget_named(const char *file, const char *name, struct err *err)
{
	AUTO_BUF struct buf what = BUF_INIT;
	AUTO_FREE char *real = resolve(xstrdup(file));
	int r;

	buf_str(&what, name);
	r = change(real, 0600, take_out_named, &what, err);
	return r < 0 ? err_wrap(err, r, "forget it") : 0;
}

/* Appends `what`, a whole section of one line. Removes older sections of this key alone. */
static int put_setting(struct buf *text, const struct buf *what)
{
	const char *value = strstr(what->data, " = ");
	AUTO_FREE char *head = xstrndup(what->data, (size_t)(value - what->data) + 3);
	char *at = text->data;

	while ((at = strstr(at, head))) {
		char *end = strchr(at, '\n');

		end = end ? strchr(end + 1, '\n') : NULL;
		if ((at > text->data && at[-1] != '\n') || !end || (end[1] && end[1] != '[')) {
			at++;
			continue;
		}
		end++;
		memmove(at, end, strlen(end) + 1);
		buf_truncate(text, text->len - (size_t)(end - at));
	}
	return append_bundle(text, what);
}

static int save_setting(const char *file, const char *section, const char *key, const char *value,
			int (*edit)(struct buf *text, const struct buf *what), struct err *err)
{
	AUTO_BUF struct buf what = BUF_INIT;
	AUTO_FREE char *real = resolve(xstrdup(file));

	for (const char *c = value; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return err_say(err, -EINVAL, "%s.%s cannot hold a control character",
				       section, key);
	buf_fmt(&what, "[%s]\n", section);
	rules_line(&what, key, value);
	return change(real, 0600, edit, &what, err);
}

int rules_save_setting(const char *file, const char *section, const char *key, const char *value,
		       struct err *err)
{
	return save_setting(file, section, key, value, put_setting, err);
}

int rules_add_setting(const char *file, const char *section, const char *key, const char *value,
		      struct err *err)
{
	return save_setting(file, section, key, value, append_bundle, err);
}
