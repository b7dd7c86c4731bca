/* windows_names - what a Windows host's file names may be, as pure functions. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * A 9P server on such a host calls these before any system call. Names are UTF-8 components as the
 * guest sends them; nothing here touches a file.
 */
enum windows_fault {
	WINDOWS_FINE,
	WINDOWS_CHARACTER, /* < > : " / \ | ? * or a control character; ":" would be a stream */
	WINDOWS_RESERVED,  /* a device of DOS: CON, NUL.txt, COM1 */
	WINDOWS_TRAILING,  /* a dot or blank at the end, which Windows takes away */
	WINDOWS_LENGTH,	   /* more than 255 UTF-16 units, or none */
	WINDOWS_ENCODING,  /* no UTF-8 */
};
enum windows_fault windows_name_check(const char *name);
/* For the session's warning: "is a device name on Windows". */
const char *windows_fault_words(enum windows_fault fault);
/* -EINVAL, -ENAMETOOLONG or -EILSEQ; 0 for WINDOWS_FINE. */
int windows_fault_errno(enum windows_fault fault);

/* Do both names mean the same entry? Upper case is compared, letter by letter, as NTFS does. */
bool windows_same_name(const char *a, const char *b);
/* A key that is equal for names that are the same. Heap string; NULL: no UTF-8. */
char *windows_fold(const char *name);

/* The path of components below a root: "C:\work", "a/b" -> "\\?\C:\work\a\b". Heap string. */
char *windows_path(const char *root, const char *below);
/*
 * Does a handle's final path (GetFinalPathNameByHandle) lie in root? Both may begin with "\\?\";
 * letters compare as names do. A junction that leads elsewhere ends in another path.
 */
bool windows_is_contained(const char *root, const char *final);

/* The permission bits of a file for which nothing was recorded. */
mode_t windows_default_mode(const char *name, bool dir);
