// Lines of a log that are not worth their room: those with one of the driver's texts in them are not written.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shim.h"

enum { LOOKED_AT = 256 };  // characters of a line

static bool is_unwanted(const char *format, va_list values) {
  if (!settings.unwanted) return false;
  char line[LOOKED_AT];
  va_list copy;
  va_copy(copy, values);
  vsnprintf(line, sizeof line, format, copy);
  va_end(copy);
  for (const char *text = settings.unwanted; *text;) {
    size_t length = strcspn(text, "\n");
    if (length && memmem(line, strlen(line), text, length)) return true;
    text += length + (text[length] == '\n');
  }
  return false;
}

int vfprintf(FILE *restrict stream, const char *restrict format, va_list values) {
  return is_unwanted(format, values) ? 0 : REAL(vfprintf)(stream, format, values);
}

// What programs call that are compiled with checks of formats.
int __vfprintf_chk(FILE *restrict stream, int flag, const char *restrict format, va_list values) {
  return is_unwanted(format, values) ? 0 : REAL(__vfprintf_chk)(stream, flag, format, values);
}
