# SPDX-License-Identifier: BSD-3-Clause
# Runs COMMAND ARGS; its output must be expected/<name>.out, with and without the suffix _cpp.
string(REGEX REPLACE "_cpp$" "" base ${NAME})
execute_process(COMMAND ${COMMAND} ${ARGS} OUTPUT_VARIABLE found RESULT_VARIABLE status)
file(READ ${EXPECTED}/${base}.out expected)
if(NOT status EQUAL 0 OR NOT found STREQUAL expected)
    message(FATAL_ERROR "${NAME}: status ${status}; expected\n${expected}found\n${found}")
endif()
