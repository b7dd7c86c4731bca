/* line - hashes and parses the lines that audit.c writes, and reserves space for them. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <sha256.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/audit/audit_priv.h"
#include "core/base/io.h"
#include "core/os/file.h"

#define HEAD_SIZE (20 + 1 + AUDIT_HASH_LEN + 1 + 20 + 1)

void audit_hash(char out[AUDIT_HASH_LEN + 1], const char *line, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t raw[SHA256_DIGEST_LENGTH];
	SHA256_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)line, len);
	SHA256Final(raw, &ctx);
	for (size_t i = 0; i < sizeof(raw); i++) {
		out[2 * i] = digits[raw[i] >> 4];
		out[2 * i + 1] = digits[raw[i] & 15];
	}
	out[AUDIT_HASH_LEN] = '\0';
}

/* Copies 64 lower-case hex digits from p to out. */
static bool copy_hash(char out[AUDIT_HASH_LEN + 1], const char *p)
{
	for (size_t i = 0; i < AUDIT_HASH_LEN; i++)
		if (!((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
			return false;
	memcpy(out, p, AUDIT_HASH_LEN);
	out[AUDIT_HASH_LEN] = '\0';
	return true;
}

/* Reads decimal digits at *p, and moves *p behind them. */
static bool read_number(const char **p, const char *end, uint64_t *ret)
{
	const char *start = *p;
	uint64_t v = 0;

	for (; *p < end && **p >= '0' && **p <= '9'; (*p)++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(**p - '0'), &v))
			return false;
	*ret = v;
	return *p > start;
}

bool audit_parse(const char *line, size_t len, struct audit_head *ret)
{
	static const char start[] = "{\"seq\":", prev[] = ",\"prev\":\"", hash[] = "\",\"hash\":\"";
	const size_t tail =
		sizeof(prev) - 1 + AUDIT_HASH_LEN + sizeof(hash) - 1 + AUDIT_HASH_LEN + 2;
	const char *p = line + sizeof(start) - 1, *t = line + len - tail;

	if (len < sizeof(start) + tail || memcmp(line, start, sizeof(start) - 1) != 0 ||
	    !read_number(&p, line + len, &ret->seq) || *p != ',')
		return false;
	if (memcmp(t, prev, sizeof(prev) - 1) != 0)
		return false;
	t += sizeof(prev) - 1;
	if (!copy_hash(ret->prev, t))
		return false;
	t += AUDIT_HASH_LEN;
	if (memcmp(t, hash, sizeof(hash) - 1) != 0)
		return false;
	t += sizeof(hash) - 1;
	return copy_hash(ret->hash, t) && memcmp(t + AUDIT_HASH_LEN, "\"}", 2) == 0;
}

bool audit_reserve(int fd)
{
	struct statvfs fs;
	struct stat st;

	return fstat(fd, &st) == 0 && fstatvfs(fd, &fs) == 0 &&
	       (uint64_t)fs.f_bavail * fs.f_frsize >= (uint64_t)16 * AUDIT_RESERVE &&
	       os_reserve(fd, st.st_size, AUDIT_RESERVE);
}

void audit_release(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && ftruncate(fd, st.st_size) < 0)
		return; /* the next session can use the space */
}

int audit_write_head(int fd, uint64_t seq, const char *hash, uint64_t first)
{
	char text[HEAD_SIZE + 1];

	snprintf(text, sizeof(text), "%020" PRIu64 " %s %020" PRIu64 "\n", seq, hash, first);
	return io_pwrite_all(fd, text, HEAD_SIZE, 0);
}

bool audit_read_head(int fd, struct audit_head *ret)
{
	char text[HEAD_SIZE + 1] = "";
	const char *p = text, *q = text + 20 + 1 + AUDIT_HASH_LEN;

	if (io_pread_full(fd, text, HEAD_SIZE, 0) != HEAD_SIZE)
		return false;
	if (!read_number(&p, text + 20, &ret->seq) || p != text + 20 || *p != ' ' ||
	    !copy_hash(ret->hash, text + 21) || *q++ != ' ')
		return false;
	p = q;
	return read_number(&p, q + 20, &ret->first) && p == q + 20 && *p == '\n';
}
