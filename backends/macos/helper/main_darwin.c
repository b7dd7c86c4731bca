/* main_darwin - the program cordon-seatbelt, on the calls of this system. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/helper/helper.h"

int main(int argc, char **argv)
{
	helper_run(&mac_os_darwin, argc, argv);
}
