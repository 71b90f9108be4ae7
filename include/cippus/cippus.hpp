/* SPDX-License-Identifier: BSD-3-Clause
 * The C API for C++17 and later: owners that end what they own, typed elements, errors as values.
 *
 * It throws nothing, and needs neither exceptions nor run-time types. Calls that can fail return a
 * cip::result. Test it (`if (auto r = ...)`) before you take its value: taking the value of a
 * failed one ends the program with the error on stderr. Options are C's structs by value, so
 * nothing of them dangles, and their size is set here: file::open(path, {.threads = 1}) in C++20.
 * Arrays, nodes, texts and views are borrowed from their file, as in C. For everything else use the
 * functions of C, with get() and out(). */
#ifndef CIPPUS_CIPPUS_HPP
#define CIPPUS_CIPPUS_HPP

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#if __cplusplus >= 202002L
#include <span>
#endif

#include "cippus/cippus.h"

namespace cip
{

/** Consecutive elements, borrowed: std::span where there is one. */
#if defined(__cpp_lib_span)
template <class T> using span = std::span<T>;
#else
template <class T> class span
{
  public:
    constexpr span() = default;
    constexpr span(T *data, std::size_t size) : data_(data), size_(size)
    {
    }
    template <std::size_t N> constexpr span(T (&array)[N]) : data_(array), size_(N)
    {
    }
    template <class C, class E = std::remove_pointer_t<decltype(std::declval<C &>().data())>,
              class = std::enable_if_t<std::is_convertible_v<E (*)[], T (*)[]>>>
    constexpr span(C &&c) : data_(c.data()), size_(c.size())
    {
    }
    constexpr T *data() const
    {
        return data_;
    }
    constexpr std::size_t size() const
    {
        return size_;
    }
    constexpr T &operator[](std::size_t i) const
    {
        return data_[i];
    }
    constexpr T *begin() const
    {
        return data_;
    }
    constexpr T *end() const
    {
        return data_ + size_;
    }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};
#endif

/** How a call that gives nothing ended. */
template <class T> class result;
template <> class [[nodiscard]] result<void>
{
  public:
    result() = default;
    result(const cip_err &error) : error_(error)
    {
    }
    result(cip_status status, const char *text)
    {
        error_.code = status;
        std::snprintf(error_.text, sizeof error_.text, "%s", text);
    }
    explicit operator bool() const
    {
        return error_.code == CIP_OK;
    }
    cip_status status() const
    {
        return static_cast<cip_status>(error_.code);
    }
    const char *text() const
    {
        return error_.text;
    }
    const cip_err &error() const
    {
        return error_;
    }
    /** Ends the program where it failed. */
    void value() const
    {
        if (error_.code == CIP_OK)
            return;
        std::fprintf(stderr, "cippus: %s: %s\n", cip_status_name(status()), error_.text);
        std::abort();
    }

  private:
    cip_err error_ = CIP_ERR_INIT;
};

/** A value, or the error in its place. */
template <class T> class [[nodiscard]] result : public result<void>
{
  public:
    using result<void>::result;
    result(T value) : value_(std::move(value))
    {
    }
    T &value() &
    {
        result<void>::value();
        return *value_;
    }
    const T &value() const &
    {
        return const_cast<result &>(*this).value();
    }
    T value() &&
    {
        return std::move(value());
    }
    T &operator*() &
    {
        return value();
    }
    const T &operator*() const &
    {
        return value();
    }
    T operator*() &&
    {
        return std::move(value());
    }
    T *operator->()
    {
        return &value();
    }
    const T *operator->() const
    {
        return &value();
    }
    T value_or(T other) &&
    {
        return *this ? std::move(*value_) : std::move(other);
    }

  private:
    std::optional<T> value_;
};

namespace detail
{
/* The result of f(&value, &err). */
template <class T, class F> result<T> ask(F f)
{
    cip_err err = CIP_ERR_INIT;
    T value{};
    f(&value, &err);
    return err.code == CIP_OK ? result<T>(std::move(value)) : result<T>(err);
}

template <class O> O *sized(O &options)
{
    options.size = sizeof options;
    return &options;
}

inline std::size_t product(span<const int64_t> shape)
{
    std::size_t n = 1;
    for (int64_t length : shape)
        n *= static_cast<std::size_t>(length);
    return n;
}

/* Goes through what has size() and operator[]. */
template <class C> struct iterator {
    const C *of;
    std::size_t i;
    auto operator*() const
    {
        return (*of)[i];
    }
    iterator &operator++()
    {
        return ++i, *this;
    }
    bool operator!=(const iterator &other) const
    {
        return i != other.i;
    }
};

/* A handle of C's, ended by `end`; moved, never copied. */
template <class H, void (*end)(H *)> class owner
{
  public:
    explicit owner(H *handle = nullptr) : handle_(handle)
    {
    }
    owner(owner &&other) noexcept : handle_(other.release())
    {
    }
    owner &operator=(owner &&other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~owner()
    {
        end(handle_);
    }
    H *get() const
    {
        return handle_;
    }
    H *release()
    {
        return std::exchange(handle_, nullptr);
    }
    /** For C's functions that make one. */
    H **out()
    {
        end(release());
        return &handle_;
    }

  private:
    H *handle_;
};
} // namespace detail

/** The kind of a C++ type; CIP_NONE of one that is no dtype of one element. */
template <class T> constexpr cip_kind kind_of()
{
    constexpr int width = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    if constexpr (std::is_same_v<T, bool>)
        return CIP_BOOL;
    else if constexpr (std::is_integral_v<T>)
        return static_cast<cip_kind>((std::is_signed_v<T> ? CIP_I8 : CIP_U8) + width);
    else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
        return sizeof(T) == 4 ? CIP_F32 : CIP_F64;
    else if constexpr (std::is_same_v<T, std::complex<float>>)
        return CIP_C64;
    else
        return std::is_same_v<T, std::complex<double>> ? CIP_C128 : CIP_NONE;
}
template <class T> const cip_dtype *dtype_of()
{
    static_assert(kind_of<T>() != CIP_NONE, "no dtype of one element");
    return cip_dtype_of(kind_of<T>());
}

/** The selection along one axis. */
constexpr cip_slice all = CIP_ALL, ellipsis = CIP_ELLIPSIS, newaxis = CIP_NEWAXIS;
constexpr cip_slice index(int64_t i)
{
    return CIP_INDEX(i);
}
constexpr cip_slice range(int64_t start, int64_t stop = CIP_OPEN, int64_t step = 1)
{
    return CIP_STEPS(start, stop, step);
}

/** "[0:10, :]" (borrowed), or {cip::range(0, 10), cip::all}; {} takes everything. */
class selection
{
  public:
    selection() = default;
    selection(const char *text) : text_(text)
    {
    }
    selection(std::initializer_list<cip_slice> items)
    {
        for (const cip_slice &item : items)
            if (slices_.n++ < 2 * CIP_MAX_NDIM) /* the library refuses more */
                slices_.item[slices_.n - 1] = item;
    }
    cip_read_args *set(cip_read_args &args) const
    {
        if (text_ != nullptr)
            args.selection = text_;
        if (slices_.n != 0)
            args.slices = &slices_;
        return detail::sized(args);
    }

  private:
    const char *text_ = nullptr;
    cip_selection slices_ = {};
};

/** Elements in C order and their shape: what a read gives. */
template <class T> class values
{
  public:
    T *data() const
    {
        return data_.get();
    }
    std::size_t size() const
    {
        return size_;
    }
    span<const int64_t> shape() const
    {
        return { shape_, static_cast<std::size_t>(ndim_) };
    }
    T &operator[](std::size_t i) const
    {
        return data_[i];
    }
    T *begin() const
    {
        return data();
    }
    T *end() const
    {
        return data() + size_;
    }
    /** The element at an index for each axis, v(3, 4); they are not checked. */
    template <class... I> T &operator()(I... i) const
    {
        std::size_t at = 0, axis = 0;
        ((at = at * static_cast<std::size_t>(shape_[axis++]) + static_cast<std::size_t>(i)), ...);
        return data_[at];
    }

  private:
    friend class array;
    std::unique_ptr<T[]> data_;
    std::size_t size_ = 0;
    int ndim_ = 0;
    int64_t shape_[CIP_MAX_NDIM] = {};
};

/** A node of the metadata tree. */
class node
{
  public:
    explicit node(const cip_node *n = nullptr) : node_(n)
    {
    }
    const cip_node *get() const
    {
        return node_;
    }
    cip_node_type kind() const
    {
        return cip_node_kind(node_);
    }
    std::size_t size() const
    {
        return cip_node_len(node_);
    }
    node operator[](std::size_t i) const
    {
        return node(cip_node_at(node_, i));
    }
    node key(std::size_t i) const
    {
        return node(cip_node_key(node_, i));
    }
    detail::iterator<node> begin() const
    {
        return { this, 0 };
    }
    detail::iterator<node> end() const
    {
        return { this, size() };
    }
    /** A scalar's text; empty of others. */
    std::string_view text() const
    {
        std::size_t n = 0;
        const char *s = cip_node_text(node_, &n);
        return s != nullptr ? std::string_view(s, n) : std::string_view();
    }
    result<node> at(const char *path) const
    {
        return detail::ask<node>(
            [&](node *v, cip_err *err) { *v = node(cip_tree_get(node_, path, err)); });
    }
    /** The value at `path`: bool, an integer (RANGE if it does not fit), float, double, or text
     * (std::string_view, const char *: borrowed; std::string). */
    template <class T> result<T> get(const char *path) const
    {
        return detail::ask<T>([&](T *out, cip_err *err) {
            if constexpr (std::is_same_v<T, bool>) {
                cip_tree_get_bool(node_, path, out, err);
            } else if constexpr (std::is_integral_v<T>) {
                std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t> v = 0;
                if constexpr (std::is_signed_v<T>)
                    cip_tree_get_int(node_, path, &v, err);
                else
                    cip_tree_get_uint(node_, path, &v, err);
                *out = static_cast<T>(v);
                if (static_cast<decltype(v)>(*out) != v)
                    *err = result<void>(CIP_ERR_RANGE, "an integer that does not fit").error();
            } else if constexpr (std::is_floating_point_v<T>) {
                double v = 0;
                cip_tree_get_double(node_, path, &v, err);
                *out = static_cast<T>(v);
            } else {
                const char *v = "";
                cip_tree_get_string(node_, path, &v, err);
                *out = v;
            }
        });
    }

  private:
    const cip_node *node_;
};

/** An array of an open file. */
class array
{
  public:
    explicit array(const cip_array *a = nullptr) : array_(a)
    {
    }
    const cip_array *get() const
    {
        return array_;
    }
    const char *path() const
    {
        return cip_array_path(array_);
    }
    const cip_dtype *dtype() const
    {
        return cip_array_dtype(array_);
    }
    span<const int64_t> shape() const
    {
        return { cip_array_shape(array_), static_cast<std::size_t>(cip_array_ndim(array_)) };
    }
    /** A selection as elements of T; `args` may ask for more (a field, an overflow, a mask).
     * UNSUPPORTED, as by cip_read, where an element is missing and nobody asked for args.mask. */
    template <class T>
    result<values<T>> read(const selection &s = {}, cip_read_args args = {}) const
    {
        return detail::ask<values<T>>([&](values<T> *v, cip_err *err) {
            uint64_t nbytes = 0;
            args.dtype = dtype_of<T>();
            if (cip_read_shape(array_, s.set(args), &v->ndim_, v->shape_, &nbytes, err) != CIP_OK)
                return;
            v->size_ = static_cast<std::size_t>(nbytes / sizeof(T));
            v->data_.reset(new (std::nothrow) T[v->size_ + 1]);
            if (v->data_ == nullptr)
                *err = result<void>(CIP_ERR_NOMEM, "no memory for the elements").error();
            else
                *err = read_into<T>({ v->data(), v->size_ }, s, args).error();
        });
    }
    /** The same into memory that is there, of the size that the selection needs (RANGE). */
    template <class T>
    result<void> read_into(span<T> dst, const selection &s = {}, cip_read_args args = {}) const
    {
        args.dtype = dtype_of<T>();
        args.dst = dst.data();
        args.dst_nbytes = dst.size() * sizeof(T);
        cip_err err = none_missing(*s.set(args)).error();
        if (err.code == CIP_OK)
            cip_read_into(array_, &args, &err);
        return err;
    }
    /** The elements in place, where they lie in the file as T does in memory (cip_view). */
    template <class T> result<span<const T>> view() const
    {
        return detail::ask<span<const T>>([&](span<const T> *v, cip_err *err) {
            const void *data = cip_view(array_, err);
            if (data != nullptr && cip_dtype_kind(dtype()) != kind_of<T>())
                *err =
                    result<void>(CIP_ERR_TYPE, "a view of another type than the array's").error();
            *v = { static_cast<const T *>(data), detail::product(shape()) };
        });
    }
    result<cip_stats> stats(const selection &s = {}, cip_read_args args = {}) const
    {
        return detail::ask<cip_stats>([&](cip_stats *v, cip_err *err) {
            cip_stat(array_, s.set(args), detail::sized(*v), err);
        });
    }

  private:
    /* Data under a mask are refused if there is no place for the mask. */
    result<void> none_missing(cip_read_args args) const
    {
        cip_err err = CIP_ERR_INIT;
        cip_array_storage storage{};
        uint64_t nbytes = 0;
        if (args.mask != nullptr ||
            cip_array_get_storage(array_, detail::sized(storage), nullptr) != CIP_OK ||
            !storage.masked ||
            cip_read_shape(array_, &args, nullptr, nullptr, &nbytes, &err) != CIP_OK)
            return err;
        const uint64_t n = nbytes / cip_dtype_itemsize(args.dtype);
        const std::unique_ptr<uint8_t[]> mask(new (std::nothrow) uint8_t[n + 1]);
        if (mask == nullptr)
            return { CIP_ERR_NOMEM, "no memory for the mask" };
        args.dst = nullptr;
        args.dst_nbytes = 0;
        args.strides = nullptr;
        args.progress = nullptr;
        args.mask = mask.get();
        if (cip_read_into(array_, &args, &err) != CIP_OK ||
            std::memchr(mask.get(), 1, static_cast<std::size_t>(n)) == nullptr)
            return err;
        return {
            CIP_ERR_UNSUPPORTED,
            "elements of those wanted are missing (masked); cip_read_args.mask takes which are"
        };
    }

    const cip_array *array_;
};

/** An open file; `for (cip::array a : file)` goes through its arrays. */
class file : public detail::owner<cip_file, cip_file_close>
{
  public:
    using owner::owner;
    static result<file> open(const char *path, cip_open_options how = {})
    {
        return detail::ask<file>(
            [&](file *v, cip_err *err) { cip_open(path, detail::sized(how), v->out(), err); });
    }
    /** A file in these bytes, which must outlive it. */
    static result<file> open(const void *bytes, std::size_t nbytes, cip_open_options how = {})
    {
        return detail::ask<file>([&](file *v, cip_err *err) {
            cip_open_memory(bytes, nbytes, detail::sized(how), v->out(), err);
        });
    }
    const char *format() const
    {
        return cip_file_format(get());
    }
    std::size_t size() const
    {
        return cip_file_narray(get());
    }
    array operator[](std::size_t i) const
    {
        return array(cip_file_array(get(), i));
    }
    detail::iterator<file> begin() const
    {
        return { this, 0 };
    }
    detail::iterator<file> end() const
    {
        return { this, size() };
    }
    node tree() const
    {
        return node(cip_file_tree(get()));
    }
    result<array> find(const char *path) const
    {
        return detail::ask<array>(
            [&](array *v, cip_err *err) { *v = array(cip_find(get(), path, err)); });
    }
    /** find() and read() in one. */
    template <class T> result<values<T>> read(const char *path, const selection &s = {}) const
    {
        result<array> a = find(path);
        return a ? a->template read<T>(s) : result<values<T>>(a.error());
    }
};

/** A picture of a selection, which may outlive the file (cip_picture_make). cip_picture_png() with
 * get() writes it. */
class picture : public detail::owner<cip_picture, cip_picture_free>
{
  public:
    using owner::owner;
    static result<picture> make(array of, const selection &s = {}, cip_picture_options how = {},
                                cip_read_args args = {})
    {
        return detail::ask<picture>([&](picture *v, cip_err *err) {
            cip_picture_make(of.get(), s.set(args), detail::sized(how), v->out(), err);
        });
    }
    /** Pixels, axes and limits, borrowed from the picture. */
    cip_picture_facts facts() const
    {
        cip_picture_facts f{};
        cip_picture_get(get(), detail::sized(f), nullptr);
        return f;
    }
};

/** A dtype from its text (cip_dtype_parse), and a file in memory: dtype::out(), memory::out(). */
using dtype = detail::owner<cip_dtype, cip_dtype_free>;
using memory = detail::owner<cip_memory, cip_memory_free>;

/** The shape of a new array: {2, 3}, or what shape() of another gave. */
struct extents : span<const int64_t> {
    extents(std::initializer_list<int64_t> s) : span(s.begin(), s.size())
    {
    }
    extents(span<const int64_t> s) : span(s)
    {
    }
    int ndim() const
    {
        return static_cast<int>(size());
    }
};

namespace detail
{
inline void abort_change(cip_change *c)
{
    cip_change_abort(&c);
}
} // namespace detail

/** A change of a file, or a new file: all of it is written by the commit, or nothing. Calls are
 * chained, as the first error is kept and the commit fails with it:
 * c.set("a", 1).put<float>("image", {2, 3}, pixels).commit(). For memory: cip_create_memory() with
 * out(). */
class change : public detail::owner<cip_change, detail::abort_change>
{
  public:
    using owner::owner;
    /** A new file: nothing is under its name before the commit. */
    static result<change> create(const char *path, cip_change_options how = {})
    {
        return detail::ask<change>(
            [&](change *v, cip_err *err) { cip_create(path, detail::sized(how), v->out(), err); });
    }
    /** A file that is there. */
    static result<change> open(const char *path, cip_change_options how = {})
    {
        return detail::ask<change>([&](change *v, cip_err *err) {
            cip_change_open(path, detail::sized(how), v->out(), err);
        });
    }
    /** A bool, a number, a text, or nullptr. */
    template <class T> change &set(const char *path, const T &value)
    {
        if constexpr (std::is_same_v<T, bool>)
            cip_change_set_bool(get(), path, value, &err_);
        else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
            cip_change_set_int(get(), path, value, &err_);
        else if constexpr (std::is_integral_v<T>)
            cip_change_set_uint(get(), path, value, &err_);
        else if constexpr (std::is_floating_point_v<T>)
            cip_change_set_double(get(), path, value, &err_);
        else if constexpr (std::is_same_v<T, std::nullptr_t>)
            cip_change_set_null(get(), path, &err_);
        else if constexpr (std::is_same_v<T, std::string>)
            cip_change_set_string(get(), path, value.c_str(), &err_);
        else
            cip_change_set_string(get(), path, value, &err_);
        return *this;
    }
    change &set_yaml(const char *path, const char *text)
    {
        cip_change_set_yaml(get(), path, text, &err_);
        return *this;
    }
    /** An array, with an element in `data` for each of the shape's (RANGE). */
    template <class T>
    change &put(const char *path, extents shape, span<const T> data, cip_array_options how = {})
    {
        if (detail::product(shape) != data.size())
            return fail(CIP_ERR_RANGE, "expected an element for each of the shape's");
        cip_change_put(get(), path, dtype_of<T>(), shape.ndim(), shape.data(), data.data(),
                       detail::sized(how), &err_);
        return *this;
    }
    /** A selection of an array of an open file, streamed. */
    change &put(const char *path, array from, const selection &s = {}, cip_array_options how = {},
                cip_read_args args = {})
    {
        cip_change_put_array(get(), path, from.get(), s.set(args), detail::sized(how), &err_);
        return *this;
    }
    /** As many elements as are selected, which are cast to the array's type: RANGE where it does
     * not hold a value exactly. */
    template <class T> change &write(const char *path, const char *selection, span<const T> data)
    {
        cip_change_write(get(), path, selection, dtype_of<T>(), data.data(),
                         data.size() * sizeof(T), &err_);
        return *this;
    }
    template <class T> change &append(const char *path, span<const T> rows)
    {
        cip_change_append(get(), path, dtype_of<T>(), rows.data(), rows.size() * sizeof(T), &err_);
        return *this;
    }
    /** Rows before the one at `start` of `axis`. */
    template <class T> change &insert(const char *path, int axis, int64_t start, span<const T> rows)
    {
        cip_change_insert(get(), path, axis, start, dtype_of<T>(), rows.data(),
                          rows.size() * sizeof(T), &err_);
        return *this;
    }
    change &remove(const char *path)
    {
        cip_change_remove(get(), path, &err_);
        return *this;
    }
    /** Where the change is, for undo() and forget(); fails if a call failed before. */
    result<uint64_t> mark()
    {
        return detail::ask<uint64_t>([&](uint64_t *v, cip_err *err) {
            *err = err_;
            if (err_.code == CIP_OK)
                cip_change_mark(get(), v, err);
        });
    }
    /** Takes back everything since the mark (0: the last one), failures too. */
    change &undo(uint64_t mark = 0)
    {
        err_ = CIP_ERR_INIT;
        cip_change_undo(get(), mark, &err_);
        return *this;
    }
    /** Drops the mark and later ones; what was changed since stays. */
    change &forget(uint64_t mark = 0)
    {
        cip_change_release(get(), mark, &err_);
        return *this;
    }
    /** Where it is BUSY the change is kept, to be committed again. */
    result<void> commit()
    {
        cip_change *c = release();
        cip_err err = err_;
        cip_change_commit(&c, &err);
        *out() = c;
        return err;
    }

  private:
    /* A failure that C does not see: nothing is left to be committed. */
    change &fail(cip_status status, const char *text)
    {
        if (err_.code == CIP_OK)
            err_ = result<void>(status, text).error();
        cip_change *c = release();
        cip_change_abort(&c);
        return *this;
    }
    cip_err err_ = CIP_ERR_INIT;
};

} // namespace cip

#endif
