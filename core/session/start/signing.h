/* signing - finds out whether git signs commits in a folder with keys that are not inside. */
/* SPDX-License-Identifier: MIT */
#pragma once

enum signing {
	SIGNING_NONE,
	SIGNING_GPG, /* by gpg, or gpgsm: their homes are hidden */
	SIGNING_SSH, /* gpg.format=ssh: needs the ssh-agent (--ssh-agent) */
};

/* Reads the settings of git for the repository of the folder, without files that they include. */
enum signing signing_of(const char *folder, const char *home);
