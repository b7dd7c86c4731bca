/* git_settings - the settings in a git configuration, as git reads them. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* Calls on() with each setting of this text: section "core" or "filter.lfs", name in lower case;
 * value is NULL where the key stands alone. All are borrowed until on() returns. What git would
 * refuse is passed over, line by line. Includes are settings like any other. */
void git_each_setting(const char *text,
		      void (*on)(void *data, const char *section, const char *name,
				 const char *value),
		      void *data);
