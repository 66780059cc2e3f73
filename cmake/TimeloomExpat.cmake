# Finds the library expat, and declares it as the target timeloom_expat_library.
include_guard(GLOBAL)
timeloom_find_library(timeloom_expat_library EXPAT expat.h libexpat.a expat libexpat1-dev XML_ParserCreate)
