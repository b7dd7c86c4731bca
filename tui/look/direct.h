/* direct - a terminfo entry with 24-bit colour, for machines that have none installed. */
/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ncurses' own xterm-direct without its keys, compiled with `tic -x`, printed with
 * `infocmp -x -q -Q2`. It goes into $TERMINFO for the moment of newterm(), see term(7).
 */
#define DIRECT_TERMINFO                                                                            \
	"b64:HgImACYADwBpAecCeHRlcm0tZGlyZWN0fHh0ZXJtIHdpdGggMjQtYml0IGNvbG91cgAAAQAAAQAAAAAA"     \
	"AAAAAQEAAAAAAAAAAAAAAQAAAQAAAAAAAAAAAVAAAAAIAAAAGAAAAP______________________________"     \
	"______________________8AAAABAAABAAAABAAGAAgA__8ZACEAJQApAP__NABFAEcASwBSAP__VABhAP__"     \
	"ZQBpAHMAdwD_____ewB_AIQAiQD__5sAoAD_____pQCqAK8AtAC9AMEAyAD__9oA3wDlAP______________"     \
	"_______rAP__________________________________________________________________________"     \
	"________________7wD3AP___________________________________wD__wIBCwEUAR0BJgEvATgBQQFK"     \
	"AVMB________________XAH__________3ABcwF-AYEBgwGGAf_____jAf__________________________"     \
	"___lAf__________GgIgAv______________________________________________________________"     \
	"____________________________________________________________________________________"     \
	"____________________________________________________________________________________"     \
	"______________________________________________________________________________8mAv__"     \
	"_____________________________________________________________________ysC____________"     \
	"______________________80Av_______________________zkC________________________________"     \
	"__________________________________________________________________8_ApMCG1taAAcADQAb"     \
	"WyVpJXAxJWQ7JXAyJWRyABtbSBtbMkoAG1tLABtbSgAbWyVpJXAxJWRHABtbJWklcDElZDslcDIlZEgACgAb"     \
	"W0gAG1s_MjVsAAgAG1s_MTJsG1s_MjVoABtbQwAbW0EAG1s_MTI7MjVoABtbUAAbW00AGygwABtbNW0AG1sx"     \
	"bQAbWz8xMDQ5aBtbMjI7MDswdAAbWzJtABtbNGgAG1s3bQAbWzdtABtbNG0AG1slcDElZFgAGyhCABsoQhtb"     \
	"bQAbWz8xMDQ5bBtbMjM7MDswdAAbWzRsABtbMjdtABtbMjRtABtbTAAbWz8xbBs-ABtbPzFoGz0AG0UAG1sl"     \
	"cDElZFAAG1slcDElZE0AG1slcDElZEIAG1slcDElZEAAG1slcDElZFMAG1slcDElZEwAG1slcDElZEQAG1sl"     \
	"cDElZEMAG1slcDElZFQAG1slcDElZEEAJXAxJWMbWyVwMiV7MX0lLSVkYgAbOAAbWyVpJXAxJWRkABs3AAoA"     \
	"G00AJT8lcDkldBsoMCVlGyhCJTsbWzAlPyVwNiV0OzElOyU_JXA1JXQ7MiU7JT8lcDIldDs0JTslPyVwMSVw"     \
	"MyV8JXQ7NyU7JT8lcDQldDs1JTslPyVwNyV0OzglO20ACQBgYGFhZmZnZ2lpampra2xsbW1ubm9vcHBxcXJy"     \
	"c3N0dHV1dnZ3d3h4eXl6ent7fHx9fX5-ABtbPzdoABtbPzdsABtbMUsAG1szOTs0OW0AG1szbQAbWzIzbQAb"     \
	"WyU_JXAxJXs4fSU8JXQzJXAxJWQlZTM4OjI6OiVwMSV7NjU1MzZ9JS8lZDolcDElezI1Nn0lLyV7MjU1fSUm"     \
	"JWQ6JXAxJXsyNTV9JSYlZCU7bQAbWyU_JXAxJXs4fSU8JXQ0JXAxJWQlZTQ4OjI6OiVwMSV7NjU1MzZ9JS8l"     \
	"ZDolcDElezI1Nn0lLyV7MjU1fSUmJWQ6JXAxJXsyNTV9JSYlZCU7bQAAAwABAAAABAANAAEBAQAIAAAAAAAD"
