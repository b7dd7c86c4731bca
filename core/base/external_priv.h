/* external_priv - functions between external_check.c and external.c. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/external.h"

/* Returns 0, or -EPERM with words if the process has not said where agents write: then it must not
 * search PATH. */
int external_check_told(const char *what, struct err *err) MUST_USE;
/* Returns whether this path, as it is written, is in a folder. */
bool external_is_in_folder(const char *path, enum external_use use);
/* Returns whether the path, the target of its links, or the interpreter of the script at the path
 * is in a folder. */
bool external_leads_to_folder(const char *path, enum external_use use);
/* Does the same for a resolved program. */
bool external_is_refused(const char *program);
/* Returns whether the text has the name of a folder, which may have blanks. */
bool external_holds_folder(const char *text);
/* Does the same, and also for each path in the text that leads to a folder. */
bool external_names_folder(const char *text, enum external_use use);
/* Sets the words of a refusal. Returns -EPERM. */
int external_refuse(const char *setting, const char *what, struct err *err);
