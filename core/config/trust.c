/* trust - the content of a folder's `.cordon.conf` that the user has read and trusts. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sha256.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/config/config_priv.h"
#include "core/os/file.h"

/*
 * A record is a file in the state folder, which is hidden from the sandbox: the hash of the content
 * and the folder, on a line each. Trust is for exact bytes: after any change the file is untrusted.
 * The hashed bytes are the parsed ones. "LABEL.text" beside it has the content, to show the changes
 * when the user is asked again.
 */
#define RECORD_MAX 8192

static char *record_dir(const char *state_dir)
{
	return path_join(state_dir, "trust");
}

static char *record_of(const char *folder, const char *text, size_t len)
{
	char hex[SHA256_DIGEST_STRING_LENGTH];

	SHA256Data((const uint8_t *)text, len, hex);
	return xasprintf("%s\n%s\n", hex, folder);
}

enum config_trust config_trust_of(const char *state_dir, const char *folder, const char *text,
				  size_t len)
{
	AUTO_FREE char *want = record_of(folder, text, len);
	AUTO_FREE char *dir = state_dir ? record_dir(state_dir) : NULL;
	AUTO_FREE char *label = path_label(folder);
	AUTO_FREE char *path = dir ? path_join(dir, label) : NULL;
	AUTO_FREE char *have = NULL;
	size_t n;

	if (!path || io_read_file(AT_FDCWD, path, RECORD_MAX, &have, &n) < 0)
		return TRUST_UNKNOWN;
	if (n == strlen(want) && memcmp(have, want, n) == 0)
		return TRUST_GIVEN;
	/* An older content, or another folder with the same label. */
	return n > 65 && str_eq(have + 65, want + 65) ? TRUST_CHANGED : TRUST_UNKNOWN;
}

/* Returns the content that was trusted last; NULL: none, or it is not stored. Heap. */
static char *trusted_text(int dir, const char *label, const char *folder)
{
	AUTO_FREE char *name = xasprintf("%s.text", label);
	AUTO_FREE char *record = NULL, *text = NULL, *want = NULL;
	size_t len;

	if (io_read_file(dir, label, RECORD_MAX, &record, &len) < 0 ||
	    io_read_file(dir, name, CONFIG_MAX_BYTES, &text, &len) < 0)
		return NULL;
	want = record_of(folder, text, len);
	return str_eq(record, want) ? take_ptr(&text) : NULL;
}

static int write_record(int dir, const char *label, const char *folder, const char *text,
			size_t len)
{
	AUTO_FREE char *record = record_of(folder, text, len);
	AUTO_FREE char *name = xasprintf("%s.text", label);
	int r = io_write_file(dir, name, 0600, text, len, true);

	return r < 0 ? r : io_write_file(dir, label, 0600, record, strlen(record), true);
}

int config_trust_look(struct trust_look *ret, const char *state_dir, const char *folder,
		      struct err *err)
{
	AUTO_FREE char *path = path_join(folder, ".cordon.conf");
	AUTO_FREE char *dir = record_dir(state_dir);
	AUTO_FREE char *label = path_label(folder);
	AUTO_CLOSE int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t len = 0;
	int r = config_project_text(path, &ret->text, &len, err);

	if (r == -ENOENT)
		return err_say(err, r, "%s: there is none: nothing to trust", path);
	if (r < 0)
		return r;
	SHA256Data((const uint8_t *)ret->text, len, ret->hash);
	ret->before = fd < 0 ? NULL : trusted_text(fd, label, folder);
	return 0;
}

void trust_look_done(struct trust_look *l)
{
	free(l->text);
	free(l->before);
}

int config_trust_give(const char *state_dir, const char *folder, const struct trust_look *l,
		      struct err *err)
{
	CLEANUP(trust_look_done) struct trust_look now = {0};
	AUTO_FREE char *dir = record_dir(state_dir);
	AUTO_FREE char *label = path_label(folder);
	AUTO_CLOSE int fd = -1;
	int r = config_trust_look(&now, state_dir, folder, err);

	if (r < 0)
		return r;
	if (!str_eq(now.hash, l->hash))
		return err_say(err, -EAGAIN,
			       "%s/.cordon.conf: it has changed since it was shown: read it again",
			       folder);
	r = io_mkdir_p(AT_FDCWD, dir, 0700);
	if (r < 0)
		return err_set(err, r, "make '%s'", dir);
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, -errno, "open '%s'", dir);
	r = write_record(fd, label, folder, now.text, strlen(now.text));
	return r < 0 ? err_set(err, r, "write '%s/%s'", dir, label) : 0;
}

int config_trust_take(const char *state_dir, const char *folder, struct err *err)
{
	AUTO_FREE char *dir = record_dir(state_dir);
	AUTO_FREE char *label = path_label(folder);
	AUTO_FREE char *path = path_join(dir, label);
	AUTO_FREE char *text = xasprintf("%s.text", path);

	(void)unlink(text);
	if (unlink(path) == 0)
		return 1;
	return errno == ENOENT || errno == ENOTDIR ? 0 : err_set(err, -errno, "remove '%s'", path);
}
