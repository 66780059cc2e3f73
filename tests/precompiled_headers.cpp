// A program must stand behind the headers that the tests share (CMakeLists.txt); it is never built.
int main() {}
