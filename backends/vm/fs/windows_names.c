/* windows_names - what a Windows host's file names may be, as pure functions. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/windows_names.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <utf8proc.h>

#include "core/base/buf.h"

#define UNITS_MAX 255

/* The next character; negative: no UTF-8. */
static utf8proc_int32_t next(const char **at)
{
	utf8proc_int32_t c;
	utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)*at, -1, &c);

	if (n <= 0)
		return -1;
	*at += n;
	return c;
}

static bool is_digit(utf8proc_int32_t c)
{
	/* Windows takes the superscripts of Latin 1 for digits here. */
	return (c >= '0' && c <= '9') || c == 0xb9 || c == 0xb2 || c == 0xb3;
}

/* COM1 and LPT1 and the like: three letters and a digit. */
static bool is_port(const char *name, size_t len)
{
	const char *at = name + 3;

	if (len < 4 || (strncasecmp(name, "COM", 3) != 0 && strncasecmp(name, "LPT", 3) != 0))
		return false;
	return is_digit(next(&at)) && at == name + len;
}

/* An extension does not count, nor blanks in front of it: "con .txt" is the console. */
static bool is_reserved(const char *name)
{
	static const char *const devices[] = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"};
	size_t len = strcspn(name, ".");

	while (len > 0 && name[len - 1] == ' ')
		len--;
	for (size_t i = 0; i < ARRAY_LEN(devices); i++)
		if (strlen(devices[i]) == len && strncasecmp(name, devices[i], len) == 0)
			return true;
	return is_port(name, len);
}

enum windows_fault windows_name_check(const char *name)
{
	const char *at = name;
	size_t units = 0, len = strlen(name);

	while (*at) {
		utf8proc_int32_t c = next(&at);

		if (c < 0)
			return WINDOWS_ENCODING;
		if (c < 0x20 || (c < 0x80 && strchr("<>:\"/\\|?*", (int)c)))
			return WINDOWS_CHARACTER;
		units += c > 0xffff ? 2 : 1;
	}
	if (units == 0 || units > UNITS_MAX)
		return WINDOWS_LENGTH;
	if (name[len - 1] == '.' || name[len - 1] == ' ')
		return WINDOWS_TRAILING;
	return is_reserved(name) ? WINDOWS_RESERVED : WINDOWS_FINE;
}

const char *windows_fault_words(enum windows_fault fault)
{
	switch (fault) {
	case WINDOWS_FINE:
		return "is a name on Windows, too";
	case WINDOWS_CHARACTER:
		return "has a character that no name on Windows has";
	case WINDOWS_RESERVED:
		return "is a device name on Windows";
	case WINDOWS_TRAILING:
		return "ends with a dot or a blank, which Windows leaves out";
	case WINDOWS_LENGTH:
		return "is too long a name for Windows";
	case WINDOWS_ENCODING:
		return "is not UTF-8, as names on Windows must be";
	}
	return "";
}

int windows_fault_errno(enum windows_fault fault)
{
	if (fault == WINDOWS_FINE)
		return 0;
	if (fault == WINDOWS_LENGTH)
		return -ENAMETOOLONG;
	return fault == WINDOWS_ENCODING ? -EILSEQ : -EINVAL;
}

/* One unit for one, as the table of NTFS has it: no letter becomes two. */
static utf8proc_int32_t upper(utf8proc_int32_t c)
{
	return c > 0xffff ? c : utf8proc_toupper(c);
}

char *windows_fold(const char *name)
{
	AUTO_BUF struct buf out = BUF_INIT;

	while (*name) {
		utf8proc_uint8_t bytes[4];
		utf8proc_int32_t c = next(&name);

		if (c < 0)
			return NULL;
		buf_add(&out, bytes, (size_t)utf8proc_encode_char(upper(c), bytes));
	}
	return out.len ? buf_take(&out) : xstrdup("");
}

bool windows_same_name(const char *a, const char *b)
{
	AUTO_FREE char *x = windows_fold(a), *y = windows_fold(b);

	return x && y ? strcmp(x, y) == 0 : strcmp(a, b) == 0;
}

/* ---- paths ----------------------------------------------------------------------------------- */

#define LONG_PREFIX "\\\\?\\"

static const char *without_prefix(const char *path)
{
	return str_starts(path, LONG_PREFIX) ? path + strlen(LONG_PREFIX) : path;
}

/* Without the backslashes at its end. */
static size_t root_len(const char *root)
{
	size_t len = strlen(root);

	while (len > 0 && root[len - 1] == '\\')
		len--;
	return len;
}

char *windows_path(const char *root, const char *below)
{
	AUTO_BUF struct buf out = BUF_INIT;

	root = without_prefix(root);
	buf_str(&out, LONG_PREFIX);
	buf_add(&out, root, root_len(root));
	if (*below)
		buf_ch(&out, '\\');
	for (; *below; below++)
		buf_ch(&out, *below == '/' ? '\\' : *below);
	return buf_take(&out);
}

bool windows_is_contained(const char *root, const char *final)
{
	AUTO_FREE char *top = windows_fold(without_prefix(root));
	AUTO_FREE char *path = windows_fold(without_prefix(final));
	size_t len;

	if (!top || !path)
		return false;
	len = root_len(top);
	if (len == 0 || strncmp(top, path, len) != 0)
		return false;
	return path[len] == '\0' || path[len] == '\\';
}

mode_t windows_default_mode(const char *name, bool dir)
{
	static const char *const run[] = {".sh",  ".bash", ".py",  ".pl",  ".rb",
					  ".exe", ".bat",  ".cmd", ".ps1", ".com"};
	const char *dot = strrchr(name, '.');

	if (dir)
		return 0755;
	for (size_t i = 0; dot && i < ARRAY_LEN(run); i++)
		if (strcasecmp(dot, run[i]) == 0)
			return 0755;
	return 0644;
}
